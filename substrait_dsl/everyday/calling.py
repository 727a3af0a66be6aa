"""The catalogue of the extension, and calls of what it declares."""

from __future__ import annotations

from functools import cache
from typing import Any

from substrait_dsl import functions
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.everyday import URN, everyday_catalog
from substrait_dsl.fluent.calls import Measure
from substrait_dsl.fluent.expr import DynExpr
from substrait_dsl.fluent.namespace import Functions


def catalog() -> Catalog:
    """Return the specification's functions and those of this extension, for readers of plans that use it.

    Specification: https://substrait.io/extensions/.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> plan = customers.select(key=lambda c: e.md5(c.name)).to_plan()
        >>> sd.Plan.from_bytes(plan.to_bytes(), catalog=e.catalog(), strict=True) == plan
        True
    """
    return everyday_catalog()


@cache
def _both() -> Functions:
    return Functions(everyday_catalog())


def call_own(name: str, *arguments: object) -> DynExpr:
    """Call a scalar function of the extension."""
    call: DynExpr = getattr(Functions(everyday_catalog(), URN), name)(*arguments)
    return call


def own_measure(name: str, *arguments: object) -> Measure[Any, Any]:
    """Call an aggregate function of the extension, or, for types that it does not have, of the specification."""
    measure: Measure[Any, Any] = getattr(_both(), name)(*arguments)
    return measure


def call_standard(name: str, *arguments: object, **options: str) -> DynExpr:
    """Call a scalar function of the specification."""
    call: DynExpr = getattr(functions, name)(*arguments, **options)
    return call


def standard_measure(name: str, *arguments: object) -> Measure[Any, Any]:
    """Call an aggregate function of the specification."""
    measure: Measure[Any, Any] = getattr(functions, name)(*arguments)
    return measure
