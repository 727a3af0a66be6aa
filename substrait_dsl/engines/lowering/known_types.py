"""Columns whose types the engine knows.

Acero does not know the types of decimals and timestamps that it computes, and crashes when it aggregates or joins such
a column. A union has the types of its first input: so the first input is a table without rows, of literals.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import ROOT, Cast, Expression, FieldReference, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import FALSE, columns, project_only

FORGOTTEN = (t.Decimal, t.PrecisionTimestamp, t.PrecisionTimestampTZ, t.VarChar, t.FixedChar, t.FixedBinary)
"""Types with parameters, which the engine does not know of computed columns."""

REMEMBERED = ("arithmetic", "boolean", "comparison")
"""The extensions whose functions return types that the engine knows."""


def with_known_types(rel: Rel, lowering: Lowering) -> Rel:
    """Return the same rows with columns whose types the engine knows."""
    if not lowering.profile.has_form("types_by_union") or all(
        _is_known(rel, at, lowering) for at in range(len(rel.schema))
    ):
        return rel
    source = lowering.find_below(rel, (Rel,))
    values = [Literal(None, type_.as_nullable()) for type_ in rel.schema.types]
    empty = project_only(rl.Filter(source, FALSE), values, rel.schema.names)
    return rl.Set((_project_all(empty), _project_all(rel)), "union_all")


def with_known_types_for(rel: Rel, expressions: Sequence[Expression], lowering: Lowering) -> Rel:
    """Return the same rows with known types, if expressions compute with a column of unknown type."""
    if not lowering.profile.has_form("types_by_union"):
        return rel
    used = {
        node.position
        for each in expressions
        if not isinstance(each, FieldReference)
        for node in walk(each, into_relations=False)
        if isinstance(node, FieldReference) and node.root == ROOT
    }
    return rel if all(_is_known(rel, at, lowering) for at in used) else with_known_types(rel, lowering)


def union_of_columns(inputs: Sequence[Rel], lowering: Lowering) -> Rel:
    """Return all rows of several inputs; Acero requires the same column names."""
    if not lowering.profile.has_form("types_by_union"):
        return rl.Set(tuple(inputs), "union_all")
    return rl.Set(tuple(_project_all(with_known_types(each, lowering)) for each in inputs), "union_all")


def projection_parts(rel: Rel) -> tuple[Rel, tuple[Expression, ...]] | None:
    """Return the input and the expressions of a relation that puts out only these; None for others."""
    match rel:
        case rl.Emit(input=rl.Project(input=source, expressions=expressions), mapping=mapping):
            width = len(source.schema)
            return (source, expressions) if list(mapping) == list(range(width, width + len(expressions))) else None
        case _:
            return None


def _project_all(rel: Rel) -> Rel:
    """Project all columns, so that they are named by their positions."""
    return project_only(rel, columns(rel), rel.schema.names)


def _has_known_type(value: Expression) -> bool:
    match value:
        case Literal():
            return True
        case Cast():
            return not isinstance(value.type, FORGOTTEN)
        case ScalarFunction():
            extension = value.function.urn.rpartition("functions_")[2]
            is_plain = extension in REMEMBERED and value.function.name != "coalesce"
            return is_plain and not isinstance(value.type, FORGOTTEN)
        case _:
            return False


def _is_known(rel: Rel, at: int, lowering: Lowering) -> bool:
    """Whether the engine knows the type of a column; each column is visited once."""
    path: list[tuple[Rel, int]] = []
    while (id(rel), at) not in lowering.known_columns:
        path.append((rel, at))
        origin = _origin(rel, at)
        if isinstance(origin, bool):
            lowering.known_columns[id(rel), at] = (rel, origin)
        else:
            rel, at = origin
    _, is_known = lowering.known_columns[id(rel), at]
    for each, position in path:
        lowering.known_columns[id(each), position] = (each, is_known)
    return is_known


def _origin(rel: Rel, at: int) -> tuple[Rel, int] | bool:
    """Return the column of another relation that a column comes from, or whether its type is known."""
    below = projection_parts(rel)
    if below is not None:
        source, expressions = below
        value = expressions[at]
        return (source, value.position) if isinstance(value, FieldReference) else _has_known_type(value)
    match rel:
        case rl.Filter(input=child) | rl.Sort(input=child) | rl.Fetch(input=child):
            return child, at
        case rl.Join(left=left, right=right):
            width = len(left.schema)
            return (left, at) if at < width else (right, at - width)
        case rl.Set(relations=(first, *_)):
            return first, at
        case rl.Aggregate(keys=keys):  # of columns that are declared
            return at < len(keys) or not isinstance(rel.schema.types[at], FORGOTTEN)
        case _:
            return True
