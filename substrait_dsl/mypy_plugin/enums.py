"""Constants that mypy knows by their types: the values of literal types, and members of enums.

A member that is a text, too, is the name of a column like others; what else it is good for the library itself says.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from mypy.nodes import Var
from mypy.types import Instance, LiteralType, ProperType

from substrait_dsl.mypy_plugin.annotations import literal_value


def read_literal(type_: ProperType) -> object:
    """The value of a literal type, or the member of an enum that it names; else None."""
    named = type_.last_known_value if isinstance(type_, Instance) else type_
    if not isinstance(named, LiteralType) or not named.is_enum_literal():
        return literal_value(type_)
    info, name = named.fallback.type, str(named.value)
    member = info.names[name].node if name in info.names else None
    value = literal_value(member.type) if isinstance(member, Var) and member.type is not None else None
    own = [base for base in info.mro if base.module_name not in ("builtins", "enum")]
    if value is None or any("__new__" in base.names for base in own):
        return None
    return _make_member(info.name, name, value, [base.fullname for base in info.mro])


def _make_member(name: str, member: str, value: object, bases: Sequence[str]) -> object:
    """A member of an enum, which may be a text or a number, too: the full names of the classes of Python say so.

    None: Python makes no such member, as of an `IntEnum` with a text; mypy says so, unless the program ignores it.
    """
    kinds: tuple[type[Any], ...] = (enum.StrEnum, enum.IntEnum)
    base = next((kind for kind in kinds if f"enum.{kind.__name__}" in bases), None)
    mixed = next((kind for kind in (str, int) if f"builtins.{kind.__name__}" in bases), None)
    try:
        made: Any = enum.Enum(name, {member: value}, type=mixed) if base is None else base(name, {member: value})
        return made[member]
    except (ValueError, TypeError, KeyError):  # also of names such as `mro`
        return None
