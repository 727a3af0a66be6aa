"""The functions and types of ``extension.yaml``, which PartiQL needs beyond the specification."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.load import read_extension
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.expr import bound_expr
from substrait_dsl.fluent.scope import NO_ROW

URN = "extension:substrait_dsl:partiql"


@cache
def own_catalog() -> Catalog:
    """Return the extension, for readers of plans that use it."""
    source = files("substrait_dsl.partiql") / "extension.yaml"
    return Catalog([read_extension(source.read_text(encoding="utf-8"), "extension.yaml", {})])


def own_call(name: str, *arguments: Expression) -> Expression:
    """Call a function of the extension."""
    operands = [bound_expr(argument, None) for argument in arguments]
    return bind(scalar(name, operands, urn=URN, catalog=own_catalog()), NO_ROW)
