"""Calls that match no overload, but exactly one after literals get its types, or defaults are filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Argument, Expression, FunctionId, Literal, literal
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.catalog import Catalog, Kind, Overload
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.catalog.records import ValueArgument
from substrait_dsl.catalog.resolve import type_of_call
from substrait_dsl.catalog.standard import is_specified
from substrait_dsl.errors import FunctionNotFoundError, SubstraitDslError
from substrait_dsl.proto.constants import convert_to_width, is_integer_constant, is_text, text_of_type
from substrait_dsl.proto.output_type_inference import overloads_named

DEFAULTS: Mapping[tuple[str, int], int | str] = {
    ("round", 1): 0,  # "round(x)" of SQL gives an integer
    # functions_string: "If no characters are specified, spaces are removed"
    **dict.fromkeys((("trim", 1), ("ltrim", 1), ("rtrim", 1)), " "),
    # functions_string: "If 'characters' is not specified, the default value is a single space"
    **dict.fromkeys((("lpad", 2), ("rpad", 2)), " "),
    # functions_string: "position and occurrence default to 1 and group defaults to 0"
    ("regexp_match_substring", 2): 1,
    ("regexp_match_substring", 3): 1,
    ("regexp_match_substring", 4): 0,
}
"""Default values of trailing arguments that may be omitted, by function and position.

They are those of the specification's functions.
"""


@attrs.frozen(eq=False, repr=False)
class FittedCall(FrozenValue):
    """A call with the arguments of an overload."""

    function: FunctionId
    arguments: tuple[Argument, ...]
    type: t.Type
    is_narrowed: bool = False
    """Whether a literal of the call was narrowed, which may change the type of the call."""


def fit_call(
    catalog: Catalog, function: FunctionId, arguments: Sequence[Argument], kinds: Sequence[Kind], phase: Phase
) -> FittedCall | None:
    """Return the only call that a call without an overload can mean; None for none, or several.

    Integer literals get the widths that an overload takes, string literals its string type, and arguments with a
    default are filled in. Of several overloads the one is chosen that narrows no literal, and gives string literals the
    type of the others.

    Args:
        catalog: the functions that are known.
        function: the function as the plan declares it.
        arguments: what it is called with.
        kinds: which kinds of functions may stand there.
        phase: what part of an aggregation the call is.
    """
    if phase.startswith("intermediate"):
        return None
    for overloads in _candidates(catalog, function, arguments, tuple(kinds)):
        if found := _fitting(catalog, overloads, function, arguments, phase):
            break
    if len(found) > 1:
        found = {key: each for key, each in found.items() if each[0] == 0}
    return next(iter(found.values()))[1] if len(found) == 1 else None


def _fitting(
    catalog: Catalog, overloads: Iterable[Overload], function: FunctionId, arguments: Sequence[Argument], phase: Phase
) -> dict[FunctionId, tuple[int, FittedCall]]:
    """Return the overloads that take a call, with the number of literals that each narrows or gives a string type."""
    found: dict[FunctionId, tuple[int, FittedCall]] = {}
    for overload in overloads:
        fitted = _fit_arguments(overload, arguments, DEFAULTS if _has_defaults(function, overload) else {})
        if fitted is None:
            continue
        try:
            type_ = type_of_call(overload, tuple(map(describe_argument, fitted)), phase, catalog.separate)
        except SubstraitDslError:
            continue
        if type_ is None:
            continue
        narrowed = _count_narrowed(arguments, fitted)
        call = FittedCall(overload.function, fitted, type_, narrowed > 0 and type(type_) in t.INTEGER_RANGES)
        found.setdefault(overload.function, (narrowed + _strange_texts(arguments, fitted), call))
    return found


def _candidates(
    catalog: Catalog, function: FunctionId, arguments: Sequence[Argument], kinds: tuple[Kind, ...]
) -> Iterator[Iterable[Overload]]:
    """Return the declared overload, and then, where its types decide nothing, those of its name."""
    try:
        yield [catalog.overload(function.urn, function.key)]
    except FunctionNotFoundError:
        yield overloads_named(catalog, function, kinds)
        return
    # `count:any` of no values is the count of rows; texts are the same in the overloads for each of their types
    if not arguments or any(isinstance(each, Expression) and is_text(each.type) for each in arguments):
        yield overloads_named(catalog, function, kinds)


def _has_defaults(function: FunctionId, overload: Overload) -> bool:
    """Whether the defaults apply to a call: another extension's function of the same name may have others."""
    return is_specified(overload.function) and (not function.urn or is_specified(function))


def _fit_arguments(
    overload: Overload, arguments: Sequence[Argument], defaults: Mapping[tuple[str, int], int | str]
) -> tuple[Argument, ...] | None:
    filled = [*arguments]
    while overload.arguments and not overload.takes_count(len(filled)):
        position = len(filled)
        value = defaults.get((overload.name, position))
        declared = overload.arguments[position] if position < len(overload.arguments) else None
        if value is None or not isinstance(declared, ValueArgument):
            return None
        filled.append(_default(value, declared))
    if not overload.takes_count(len(filled)):
        return None
    other = _width_of_others(filled)
    for position, argument in enumerate(filled):
        if isinstance(argument, Literal) and is_integer_constant(argument):
            declared = overload.argument_at(position)
            if not isinstance(declared, ValueArgument):
                return None
            wanted = _INTEGERS.get(declared.pattern.keyword, other if declared.pattern.is_any else None)
            fitted = argument if wanted is None else convert_to_width(argument, wanted)
            if fitted is None:
                return None
            filled[position] = fitted
        elif isinstance(argument, Literal) and is_text(argument.type):
            declared = overload.argument_at(position)
            if isinstance(declared, ValueArgument):
                filled[position] = text_of_type(argument, declared.pattern.keyword)
    return tuple(filled)


_INTEGERS: Mapping[str, t.Type] = {class_.keyword: class_() for class_ in t.INTEGER_RANGES}


def _default(value: int | str, declared: ValueArgument) -> Literal:
    if isinstance(value, int):
        return literal(value, _INTEGERS.get(declared.pattern.keyword, t.I32()))
    return literal(value, t.VarChar(len(value)) if declared.pattern.keyword == t.VarChar.keyword else t.String())


def _width_of_others(arguments: Sequence[Argument]) -> t.Type | None:
    """Return the type of the numeric arguments that are no literals; of literals alone the widest."""
    values = [argument for argument in arguments if isinstance(argument, Expression)]
    others = {each.type.as_required() for each in values if not is_integer_constant(each)}
    numbers = [type_ for type_ in others if isinstance(type_, _NUMBERS) or _is_unsigned(type_)]
    if numbers:
        return numbers[0] if len(numbers) == 1 else None
    constants = [each.type for each in values if is_integer_constant(each)]
    widths = list(t.INTEGER_RANGES)
    return max(constants, key=lambda type_: widths.index(type(type_)), default=None)


_NUMBERS = (*t.INTEGER_RANGES, t.FP32, t.FP64, t.Decimal)


def _is_unsigned(type_: t.Type) -> bool:
    return isinstance(type_, t.UserDefined) and type_.urn == t.UNSIGNED_URN


def _strange_texts(arguments: Sequence[Argument], fitted: Sequence[Argument]) -> int:
    """Count the string literals of a type that no other string argument has."""
    texts = [each for each in arguments if isinstance(each, Expression) and is_text(each.type)]
    keywords = {each.type.keyword for each in texts if not isinstance(each, Literal)}
    constants = [each for each in fitted if isinstance(each, Literal) and is_text(each.type)]
    return sum(each.type.keyword not in keywords for each in constants) if keywords else 0


def _count_narrowed(arguments: Sequence[Argument], fitted: Sequence[Argument]) -> int:
    widths = list(t.INTEGER_RANGES)
    return sum(
        type(new.type) in widths and widths.index(type(new.type)) < widths.index(type(old.type))
        for old, new in zip(arguments, fitted, strict=False)
        if isinstance(old, Literal) and isinstance(new, Literal) and is_integer_constant(old)
    )
