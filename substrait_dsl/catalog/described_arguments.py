"""Arguments of calls in the algebra, described for a catalogue."""

from __future__ import annotations

from typing import assert_never

from substrait_dsl.algebra.expressions.calls import Argument, EnumArgument, TypeArgument
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.references import FieldReference
from substrait_dsl.algebra.node import Expression
from substrait_dsl.catalog.call_arguments import CallArgument, EnumValue, Typed, TypeValue


def describe_argument(argument: Argument, *, by_value: bool = False) -> CallArgument:
    """Describe an argument of a call; `by_value` adds the value of an integer literal, which may decide."""
    match argument:
        case Literal(value=int() as value) if not isinstance(value, bool):
            return Typed(argument.type, value if by_value else None, constant=True)
        case FieldReference():
            return Typed(argument.type, constant=False)
        case Expression():
            return Typed(argument.type)
        case EnumArgument(word):
            return EnumValue(word)
        case TypeArgument(type_):
            return TypeValue(type_)
        case _:
            assert_never(argument)
