"""Options of all reads: conditions, a projection of columns, and declared properties of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.fluent.column_arguments import Role, evaluate_on_row, require_condition
from substrait_dsl.fluent.declared_properties import Distributed, Ordering, declared_properties
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation


class Known(TypedDict, total=False):
    """The keyword arguments that declare properties of the data of any read."""

    ordering: Ordering
    distribution: Distributed | None
    properties: Mapping[str, str] | None


def read(
    struct: NamedStruct,
    definition: rl.ReadDefinition,
    filter: Any,
    best_effort_filter: Any,
    columns: Any,
    ordering: Any,
    distribution: Any,
    properties: Any,
) -> Relation[Any]:
    """Return the read of a table of these columns; see `read_named`."""
    scope = Scope("read", (), struct)
    required, best_effort = _condition(filter, scope), _condition(best_effort_filter, scope)
    mask = None if columns is None else _mask(columns, struct)
    declared = declared_properties(struct, ordering, distribution)
    values = _name_values(properties)
    return wrap_relation(
        rl.Read(struct, definition, required, best_effort, mask, declared, values, anchor=scope.anchor)
    )


def _condition(value: Any, scope: Scope) -> ex.Expression | None:
    if value is None:
        return None
    condition: ex.Expression = evaluate_on_row(value, scope, Role.CONDITION)
    require_condition(condition)
    return condition


def _name_values(properties: Any) -> tuple[tuple[str, str], ...]:
    if properties is None:
        return ()
    if not isinstance(properties, Mapping):
        raise InvalidArgumentError("properties is a dict of texts by name", got=properties)
    for name, value in properties.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidArgumentError(
                f"the properties of a read are texts, got {name!r}: {value!r}", names=[name, value]
            )
    return tuple(properties.items())


def _mask(columns: Any, struct: NamedStruct) -> ex.StructMask:
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise TypeMismatchError("columns must be a list of at least one name", got=columns)
    return ex.StructMask(tuple(ex.MaskItem(struct.position(column)) for column in columns))
