"""Widening casts of numbers: which of them a call needs that no overload takes as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from substrait_dsl.algebra.number_types import NUMBERS, WIDER, common_number, decimal_type, digits
from substrait_dsl.algebra.types import FP32, FP64, INTEGER_TYPES, Decimal, Type
from substrait_dsl.catalog.call_arguments import CallArgument, Typed
from substrait_dsl.catalog.records import Overload, ValueArgument
from substrait_dsl.catalog.resolve import Fit, fit

EXCLUDED = frozenset({"shift_right_unsigned"})
"""Functions whose result depends on how many bits their first operand has."""


def widen(name: str, arguments: Sequence[CallArgument], overloads: Iterable[Overload]) -> list[Type | None] | None:
    """Return the types that arguments of a call are cast to, so that an overload takes them, None for each that is not.

    Args:
        name: The function's name.
        arguments: What it is called with; no overload takes them as they are.
        overloads: The overloads that the call may mean.

    A number becomes one of another kind only beside one of that kind: an integer a float beside a float, and a decimal
    beside a decimal. Of several overloads it is the one that widens each argument least.

    Returns:
        None if no overload takes them with such casts, or if no single one widens each argument least.
    """
    if name in EXCLUDED:
        return None
    found: list[tuple[list[int], list[Type | None]]] = []
    for overload in overloads:
        if overload.takes_count(len(arguments)):
            wanted = _Widening(arguments, overload).wanted()
            if wanted is not None:
                steps = [_steps(argument, type_) for argument, type_ in zip(arguments, wanted, strict=True)]
                found.append((steps, wanted))
    if not found:
        return None
    least = [min(each) for each in zip(*(steps for steps, _ in found), strict=True)]
    return next((wanted for steps, wanted in found if steps == least), None)


def is_number(argument: CallArgument) -> bool:
    """Return whether an argument is an expression of a numeric type."""
    return (
        isinstance(argument, Typed)
        and isinstance(argument.type, (*NUMBERS, Decimal))
        and argument.type.variation is None
    )


def are_mixed(arguments: Sequence[CallArgument]) -> bool:
    """Return whether expressions of several numeric types stand beside each other."""
    types = [argument.type for argument in arguments if isinstance(argument, Typed) and is_number(argument)]
    return any(not types[0].matches(type_) for type_ in types[1:])


def _steps(argument: CallArgument, type_: Type | None) -> int:
    """Return how far a type is from that of an argument: its position among the wider types, decimals last."""
    if type_ is None or not isinstance(argument, Typed):
        return 0
    wider = WIDER.get(type(argument.type), ())
    return wider.index(type(type_)) + 1 if type(type_) in wider else len(NUMBERS)


class _Widening:
    """The casts with which one overload takes the arguments of a call."""

    def __init__(self, arguments: Sequence[CallArgument], overload: Overload) -> None:
        self.arguments, self.overload = arguments, overload
        self.types = [argument.type for argument in arguments if isinstance(argument, Typed)]
        self.common: dict[str, Type | None] = {}

    def wanted(self) -> list[Type | None] | None:
        """Return the type that each argument is cast to, None for each that stays, or None if that does not help."""
        wanted: list[Type | None] = []
        for position, argument in enumerate(self.arguments):
            type_ = self._type_at(position, argument) if isinstance(argument, Typed) and is_number(argument) else None
            wanted.append(None if isinstance(argument, Typed) and type_ == argument.type else type_)
        return wanted if any(wanted) and self._fit(wanted) is not None else None

    def _type_at(self, position: int, argument: Typed) -> Type | None:
        declared = self.overload.argument_at(position)
        if not isinstance(declared, ValueArgument):
            return None
        pattern, type_ = declared.pattern, argument.type
        if pattern.is_any:
            if pattern.keyword not in self.common:
                self.common[pattern.keyword] = self._common_of(pattern.keyword)
            common = self.common[pattern.keyword]
            return None if common is None else common.with_nullability(type_.nullable)
        if pattern.keyword == Decimal.keyword:
            return self._decimal(type_)
        wider = next((each for each in WIDER.get(type(type_), ()) if each.keyword == pattern.keyword), None)
        return wider(nullable=type_.nullable) if wider is not None and self._may_become(type_, wider) else None

    def _common_of(self, label: str) -> Type | None:
        """Return the type that all arguments of one label get; ``any`` without a number is a label of each."""
        if label == "any":
            return None
        sharing = [
            argument.type
            for position, argument in enumerate(self.arguments)
            if isinstance(argument, Typed)
            and isinstance(declared := self.overload.argument_at(position), ValueArgument)
            and declared.pattern.keyword == label
        ]
        return common_number(sharing)

    def _decimal(self, type_: Type) -> Type | None:
        """Return the decimal that an integer becomes beside another decimal."""
        parts = digits(type_)
        if isinstance(type_, Decimal) or parts is None or not any(isinstance(each, Decimal) for each in self.types):
            return None
        return decimal_type(*parts, type_.nullable)

    def _may_become(self, type_: Type, wider: type[Type]) -> bool:
        """Return whether a number may become one of another kind: only beside one of that kind."""
        if type(type_) not in INTEGER_TYPES or wider in INTEGER_TYPES:
            return True
        return any(isinstance(each, FP32 if wider is FP32 else (FP32, FP64)) for each in self.types)

    def _fit(self, wanted: Sequence[Type | None]) -> Fit | None:
        widened = [
            argument if type_ is None else Typed(type_) for argument, type_ in zip(self.arguments, wanted, strict=True)
        ]
        return fit(self.overload, widened)
