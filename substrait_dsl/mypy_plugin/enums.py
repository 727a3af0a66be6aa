"""Constants that mypy knows by their types: the values of literal types, and members of enums.

A member that is a text, too, may name a column, as other texts do.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from mypy.nodes import Var
from mypy.types import Instance, LiteralType, ProperType

from substrait_dsl.mypy_plugin.annotations import literal_value


def read_literal(type_: ProperType) -> object:
    """Return the value of a literal type, or the member of an enum that it names; else None."""
    literal = type_.last_known_value if isinstance(type_, Instance) else type_
    if not isinstance(literal, LiteralType) or not literal.is_enum_literal():
        return literal_value(type_)
    info, name = literal.fallback.type, str(literal.value)
    member = info.names[name].node if name in info.names else None
    value = literal_value(member.type) if isinstance(member, Var) and member.type is not None else None
    own = [base for base in info.mro if base.module_name not in ("builtins", "enum")]
    if value is None or any("__new__" in base.names for base in own):
        return None
    return _make_member(info.name, name, value, [base.fullname for base in info.mro])


def _make_member(name: str, member: str, value: object, bases: Sequence[str]) -> object:
    """Return a member of an enum with the given base classes; None if Python has no such member.

    An `IntEnum` has no member that is a text, for example: mypy reports that, unless the program ignores it.
    """
    classes: tuple[type[Any], ...] = (enum.StrEnum, enum.IntEnum)
    base = next((base_class for base_class in classes if f"enum.{base_class.__name__}" in bases), None)
    mixed = next((base_class for base_class in (str, int) if f"builtins.{base_class.__name__}" in bases), None)
    try:
        class_: Any = enum.Enum(name, {member: value}, type=mixed) if base is None else base(name, {member: value})
        return class_[member]
    except (ValueError, TypeError, KeyError):  # also of names such as `mro`
        return None
