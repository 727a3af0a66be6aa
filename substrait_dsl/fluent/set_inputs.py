"""The inputs of set operations: columns matched by name, and names that stand in another order."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError, quote
from substrait_dsl.texts import nearest


def match_by_name(first: Rel, other: Rel, number: int) -> Rel:
    """Return an input with its columns in the order of the first one.

    Args:
        first: the primary input.
        other: the input.
        number: which input it is, for messages.

    Raises `SchemaError` for a name that one of both lacks, or that stands twice in one.
    """
    first_names, other_names = first.schema.names, other.schema.names
    if first_names == other_names and len(set(first_names)) == len(first_names):
        return other
    for which, names in ((1, first_names), (number, other_names)):
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise SchemaError(
                f"columns are matched by name, but input {which} has {quote(repeated)} twice",
                names=repeated,
                hint="rename or drop one of them first",
            )
    missing = [name for name in first_names if name not in other_names]
    surplus = [name for name in other_names if name not in first_names]
    if missing or surplus:
        lacks = [f"lacks {quote(missing)}"] if missing else []
        has = [f"has {quote(surplus)}, which input 1 lacks"] if surplus else []
        raise SchemaError(
            f"columns are matched by name, but input {number} {' and '.join(lacks + has)}",
            names=[*missing, *surplus],
            hint=_hint(first.schema, missing, surplus, number),
        )
    return rl.emit(other, [other.schema.position(name) for name in first_names])


def _hint(first: NamedStruct, missing: Sequence[str], surplus: Sequence[str], number: int) -> str:
    """Return what to write for the first name that one input lacks."""
    if not missing:
        return f"drop({quote(surplus)}) of input {number}"
    near = nearest(missing[0], surplus)
    if near is not None:
        return f'rename({{"{near}": "{missing[0]}"}}) of input {number}'
    type_ = first.fields[first.position(missing[0])].type.as_required()
    return (
        f'with_columns(**{{"{missing[0]}": null("{type_}")}}) of input {number}, or leave the column out of the others'
    )


def require_same_order(first: Rel, other: Rel, number: int) -> None:
    """Raise `SchemaError` for an input whose columns have the names of the first one, in another order.

    Columns are matched by position, so they would stand under each other's names.
    """
    first_names, other_names = first.schema.names, other.schema.names
    if (
        first_names != other_names
        and len(set(first_names)) == len(first_names)
        and sorted(first_names) == sorted(other_names)
    ):
        raise SchemaError(
            f"the columns of input {number} have the names of input 1 in another order: "
            f"{quote(other_names)} instead of {quote(first_names)}",
            names=other_names,
            hint="by_name=True matches them by name, "
            f"select({quote(first_names)}) of input {number} puts them in order",
        )
