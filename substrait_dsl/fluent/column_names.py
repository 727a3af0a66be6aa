"""The names of columns: which column a name means, and the new names that `rename` gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    SchemaError,
    UnknownFieldError,
    error_context,
    quote,
    require,
)
from substrait_dsl.fluent.column_arguments import describe_function, takes
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.namespace import CatalogFunction

Renaming = Mapping[str, str] | Mapping[int, str] | Mapping[str | int, str] | Callable[[str], str]
"""New names by old name, or by position, or a function of the old name; the keys of mappings are invariant."""


def find_position(schema: NamedStruct, column: str | int, written: str) -> int:
    """Return the position of a column, and how to write it if the name is ambiguous."""
    try:
        return schema.position(column)
    except AmbiguousFieldError as error:
        found = (position for position, name in enumerate(schema.names) if name == column)
        error.hint = "say which by its position: " + " or ".join(map(written.format, found))
        raise


def rename_columns(schema: NamedStruct, names: Renaming | None, renamed: Mapping[str, str]) -> list[str]:
    """Return the names of all columns after a renaming. Raises as `Relation.rename` does."""
    if isinstance(names, CatalogFunction):
        raise InvalidArgumentError(
            f"{names.__name__} is a function of columns, not of their names",
            hint="write a function of Python, such as lambda name: name.upper()",
        )
    if callable(names) and not isinstance(names, ExprBase | type):
        if renamed:
            raise InvalidArgumentError(
                f"expected new names by a function, or one by one; {quote(renamed)} stands beside a function",
                names=[*renamed],
                hint="call rename twice",
            )
        return _rename_all(schema, names)
    if names is not None and not isinstance(names, Mapping):
        raise InvalidArgumentError("expected a dict of new names by old name, or a function of the old name", got=names)
    wanted: dict[Any, str] = {**(names or {}), **renamed}
    for new in wanted.values():
        hint = "give it without a name: rename({...})" if isinstance(new, Mapping) else None
        require(new, str, "the new name of a column is a str", hint)
    changed = {_renamed_position(schema, old, new): new for old, new in wanted.items()}
    after = [changed.get(position, field.name) for position, field in enumerate(schema)]
    uses = Counter(after)
    for new in changed.values():
        if uses[new] > 1:
            raise SchemaError(f'two columns would be called "{new}"', names=[new])
    return after


def _rename_all(schema: NamedStruct, function: Callable[[str], str]) -> list[str]:
    """Return the names that a function makes of the old ones; two that were the same before may stay so."""
    new_names: dict[str, str] = {}
    old_names: dict[str, str] = {}
    for old in schema.names:
        new = new_names[old] = _call(function, old)
        with error_context(place="column", name=old):
            require(new, str, "the function returns the new name, a str", "return the name itself to keep it")
            if old_names.setdefault(new, old) != old:
                raise SchemaError(f'two columns would be called "{new}": this and "{old_names[new]}"', names=[new])
    return [new_names[old] for old in schema.names]


def _call(function: Callable[[str], str], name: str) -> str:
    try:
        return function(name)
    except TypeError:
        if takes(function, 1):
            raise
        raise InvalidArgumentError(f"{describe_function(function)} does not take one name") from None


def _renamed_position(schema: NamedStruct, old: str | int, new: str) -> int:
    try:
        return find_position(schema, old, "rename({{{}: ...}})")
    except UnknownFieldError as error:
        if new in schema.names:
            error.hint = f'the old name comes first: {new}="{old}"'
        raise
