"""What PartiQL's algebra needs and the specification lacks: functions and types that ``extension.yaml`` declares."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.load import read_extension
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.expr import bound_expr, resolve
from substrait_dsl.fluent.scope import NO_ROW

URN = "extension:substrait_dsl:partiql"


@cache
def own_catalog() -> Catalog:
    """The extension, for those who read plans that use it and want its functions checked."""
    source = files("substrait_dsl.partiql") / "extension.yaml"
    return Catalog([read_extension(source.read_text(encoding="utf-8"), "extension.yaml", {})])


def own_call(name: str, *arguments: Expression) -> Expression:
    """A function of the extension."""
    operands = [bound_expr(argument, None) for argument in arguments]
    return resolve(scalar(name, operands, urn=URN, catalog=own_catalog()), NO_ROW)
