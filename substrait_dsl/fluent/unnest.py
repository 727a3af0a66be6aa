"""Rows of the elements of a list."""

from __future__ import annotations

from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.types import List, Map
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, quote
from substrait_dsl.fluent.column_arguments import Role, evaluate, is_list, require_distinct, require_name
from substrait_dsl.fluent.scope import Scope


def unnest(rel: rl.Rel, column: Any, element: str, offset: str) -> rl.Rel:
    """Return the unnest of the algebra; see `Relation.unnest`. A list that is computed is a column only in between."""
    names = (element, offset)
    for name in names:
        require_name(name)
    require_distinct(names)
    taken = [name for name in names if name in rel.schema.names]
    if taken:
        raise SchemaError(
            f"there is a column {quote(taken)} already", names=[*taken], hint='element="...", offset="..."'
        )
    scope = Scope("unnest", (rel,))
    if is_list(column) and any(isinstance(each, str) and each in rel.schema.names for each in column):
        raise InvalidArgumentError(
            "expected one column that is a list", got=column, hint=f"write unnest({column[0]!r}), and again for another"
        )
    is_name = isinstance(column, str | int) and not isinstance(column, bool)
    lists = scope.column(column) if is_name else evaluate(column, scope, Role.LIST)
    if not isinstance(lists.type, List):
        hint = 'x["key"] is a value of a map; everyday.map_keys(x) is the list of its keys, map_values(x) of its values'
        raise TypeMismatchError(
            f"only lists have elements, this is {lists.type}", hint=hint if isinstance(lists.type, Map) else None
        )
    if isinstance(lists, ex.FieldReference) and lists.root == ex.ROOT:
        return rl.Unnest(rel, lists.position, names)
    width = len(rel.schema)
    output = rl.Unnest(rl.Project(rel, (lists,), ("list",), anchor=scope.anchor), width, names)
    return rl.emit(output, [*range(width), width + 1, width + 2])
