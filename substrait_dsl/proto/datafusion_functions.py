"""Scalar functions as DataFusion defines them, where names, arguments or results differ from the specification.

A function that is not in `SCALAR_FUNCTIONS` is read by its name like that of any other producer: `tests/producers/`
compares DataFusion's results with those of the expressions here, function by function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.construction import Arguments, Reader, cast_as_declared, cast_to, scalar_call
from substrait_dsl.proto.datafusion_dates import (
    COMPARISONS,
    compare_durations,
    date_arithmetic,
    date_part,
    date_trunc,
    format_time,
)
from substrait_dsl.proto.datafusion_decimals import decimal_arithmetic

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


# --- arithmetic


def _arithmetic(name: str) -> Reader:
    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        type_ = declared if isinstance(declared, t.Decimal) else None
        return decimal_arithmetic(decoder, name, arguments, type_) or date_arithmetic(decoder, name, arguments)

    return read


def _shift_bits(name: str) -> Reader:
    """Shift the bits of an integer, modulo the number of bits.

    DataFusion casts both to the wider of their types. A plan that it has not analysed lacks that cast.
    """

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (
                ex.Expression(type=t.I8() | t.I16() | t.I32() | t.I64()) as base,
                ex.Expression(type=t.I8() | t.I16() | t.I32() | t.I64()) as places,
            ):
                type_ = declared
                if type_ is None or type(type_) not in t.INTEGER_RANGES:
                    type_ = max(base.type, places.type, key=_last_place)
                if isinstance(type_, t.I8 | t.I16):
                    return _shift_few_bits(decoder, name, base, places, type_)
                return scalar_call(decoder, "arithmetic", name, cast_to(base, type_), _places(decoder, places, type_))
            case _:
                return None

    return read


def _last_place(type_: t.Type) -> int:
    """Return the index of the highest bit of an integer."""
    return t.INTEGER_RANGES[type(type_)][1].bit_length()


def _places(decoder: Decoder, places: ex.Expression, type_: t.Type) -> ex.Expression:
    """Return the shift of an i32 or i64, as an i32."""
    if isinstance(places, ex.Literal) and isinstance(places.value, int):
        return ex.literal(places.value & _last_place(type_), t.I32(nullable=places.type.nullable))
    width = places.type if isinstance(places.type, t.I64) else t.I32()
    last = ex.literal(_last_place(type_), width.as_required())
    return cast_to(scalar_call(decoder, "arithmetic", "bitwise_and", cast_to(places, width), last), t.I32())


def _shift_few_bits(
    decoder: Decoder, name: str, base: ex.Expression, places: ex.Expression, type_: t.Type
) -> ex.Expression:
    """Shift the bits of an i8 or i16, as the lower ones of an i32; bits beyond the type are lost.

    Raises:
        UnsupportedError: the number of places is not written as a literal.
    """
    last = _last_place(type_)
    if not isinstance(places, ex.Literal) or not isinstance(places.value, int):
        raise UnsupportedError(
            f"DataFusion's bitwise_{name} of {type_} takes the number of places modulo {last + 1}: the specification "
            "has no function that moves the bits of so small an integer, and the number depends on the row",
            hint="write the number as a literal, or cast the integer to i32",
        )
    moved, number = cast_to(base, t.I32()), places.value & last
    spare = _last_place(t.I32()) - last
    if name == "shift_left":  # into the upper bits of the i32, and back with the sign
        count = ex.literal(number + spare, t.I32(nullable=places.type.nullable))
        moved, number = scalar_call(decoder, "arithmetic", name, moved, count), spare
    count = ex.literal(number, t.I32(nullable=places.type.nullable))
    return cast_to(scalar_call(decoder, "arithmetic", "shift_right", moved, count), type_)


def _round(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read ``round(x)``, without digits after the point; the number of digits is an i32."""
    match arguments:
        case (ex.Expression(type=t.Decimal()) as value,):
            return cast_as_declared(
                scalar_call(decoder, "rounding_decimal", "round", value, ex.literal(0, t.I32())), declared
            )
        case (ex.Expression() as value,):
            return scalar_call(decoder, "rounding", "round", value, ex.literal(0, t.I32()))
        case _:
            return None


def _log(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read ``log(x)``, to the base 10."""
    match arguments:
        case (ex.Expression() as value,):
            return scalar_call(decoder, "logarithmic", "log10", value)
        case _:
            return None


# --- text


def _renaming(extension: str, name: str, **options: str) -> Reader:
    """Return a reader for a function with another name in DataFusion, or one that needs an option."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression:
        return cast_as_declared(scalar_call(decoder, extension, name, *arguments, **options), declared)

    return read


def _trim(name: str) -> Reader:
    """Read a trim; by default it removes spaces."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (text, *characters):
                left_out = tuple(characters) or (ex.literal(" ", t.String()),)
                return scalar_call(decoder, "string", name, text, *left_out)
            case _:
                return None

    return read


def _substring(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read a substring: positions are i64, and one left of the first character counts from there."""
    match arguments:
        case (text, *numbers):
            positions = (
                cast_to(number, t.I32()) if isinstance(number, ex.Expression) else number for number in numbers
            )
            return scalar_call(decoder, "string", "substring", text, *positions, negative_start="LEFT_OF_BEGINNING")
        case _:
            return None


def _end(name: str) -> Reader:
    """Return a reader of ``left`` or ``right``: a number below 0 omits characters at the other end."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (ex.Expression() as text, ex.Literal(value=int() as count)) if count >= 0:
                return scalar_call(decoder, "string", name, text, ex.literal(count, t.I32()))
            case (ex.Expression() as text, ex.Literal(value=int() as count)):
                length = scalar_call(decoder, "string", "char_length", text)
                remaining = scalar_call(decoder, "arithmetic", "add", length, ex.literal(count, t.I64()))
                none = ex.literal(0, t.I64())
                remaining = scalar_call(decoder, "comparison", "greatest", remaining, none)
                return scalar_call(decoder, "string", name, text, cast_to(remaining, t.I32()))
            case _:
                raise UnsupportedError(
                    f"DataFusion's {name} leaves out characters where its number is below 0, which no function of the "
                    "specification does for a number that depends on the row",
                    hint="write the number as a literal",
                )

    return read


def _pad(name: str) -> Reader:
    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (ex.Expression() as text, ex.Expression() as length, *filling):
                filled = tuple(filling) or (ex.literal(" ", t.String()),)
                return scalar_call(decoder, "string", name, text, cast_to(length, t.I32()), *filled)
            case _:
                return None

    return read


# --- patterns

BACKSLASH = "\\"


def _like(**options: str) -> Reader:
    """Return a reader of ``like``: in DataFusion a backslash escapes the next character."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (ex.Expression() as text, ex.Literal(value=str() as pattern)):
                return _match_escaped(decoder, text, pattern, options)
            case (ex.Expression(), ex.Expression()):
                raise UnsupportedError(
                    "a backslash in a pattern of DataFusion takes the character behind it as it is, and this pattern "
                    "depends on the row: the specification's like has no such character",
                    hint="write the pattern as a literal",
                )
            case _:
                return None

    return read


def _like_without_case(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read a ``like`` without case: Unicode folds a third letter, which is no lower case, to s.

    Raises:
        UnsupportedError: the pattern has characters beyond ASCII, of which some are folded otherwise.
    """
    match arguments:
        case (ex.Expression() as text, ex.Literal(value=str() as pattern) as pattern_literal) if pattern.isascii():
            if "s" in pattern.lower():
                text = scalar_call(
                    decoder, "string", "replace", text, ex.literal(_LONG_S, t.String()), ex.literal("s", t.String())
                )
            return _LIKE_WITHOUT_CASE(decoder, (text, pattern_literal), declared)
        case (ex.Expression(), ex.Literal(value=str() as pattern)):
            raise UnsupportedError(
                f"which letters of {pattern!r} are alike without case, beyond ASCII, the specification does not say",
                hint="compare lower(x) with a pattern in lower case",
            )
        case _:
            return _LIKE_WITHOUT_CASE(decoder, arguments, declared)


_LONG_S = "\u017f"
_LIKE_WITHOUT_CASE = _like(case_sensitivity="CASE_INSENSITIVE")


def _split_part(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read the part of a text between separators, by its number from 1 on; what is not there is the empty text."""
    match arguments:
        case (
            ex.Expression() as text,
            ex.Literal(value=str() as separator) as separator_literal,
            ex.Literal(value=int() as number),
        ) if separator and number > 0:
            parts = scalar_call(decoder, "string", "string_split", text, separator_literal)
            part = ex.FieldAccess(parts, ex.ListElement(number - 1))
            found = scalar_call(decoder, "comparison", "coalesce", part, ex.literal("", t.String()))
            if not text.type.nullable:
                return cast_as_declared(found, declared)
            is_null = scalar_call(decoder, "comparison", "is_null", text)
            return ex.IfThen((ex.IfClause(is_null, ex.literal(None, t.String(nullable=True))),), found)
        case (_, _, _):
            raise UnsupportedError(
                "split_part of a separator or number that depends on the row, or of a number below 1",
                hint="write them as literals, the number from 1 on",
            )
        case _:
            return None


_OF_EVERY_DIALECT = re.compile(
    r"""\^? (?: [\w \-,:;@#/%&=<>!"'~`.|()] | \\[.*+?|()\[\]^$\\{}]
    | \[\^?(?:[\w ,:;@#/%=.+]|(?<=\w)-(?=\w))+\] | [*+?](?![*+?{]) | \{\d+(?:,\d*)?\}(?![*+?{]) )* \$?""",
    re.ASCII | re.VERBOSE,
)
"""Regular expressions that mean the same to DataFusion and to the specification, but for ``.`` and ``$``."""


def _matches(comparison: str) -> Reader:
    """Return a reader of a match: the number of matches, which is compared with 0."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match arguments:
            case (ex.Expression() as text, ex.Literal(value=str() as pattern)):
                if _OF_EVERY_DIALECT.fullmatch(pattern) is None or "(?" in pattern:
                    raise UnsupportedError(
                        f"the regular expression {pattern!r} may mean something else to another engine",
                        hint="of ASCII letters, digits and [...], with ^, $, |, (...), *, + and ?, it means the same",
                    )
                count = scalar_call(
                    decoder,
                    "string",
                    "regexp_count_substring",
                    text,
                    ex.literal(_translate_to_icu(pattern), t.String()),
                )
                return scalar_call(decoder, "comparison", comparison, count, ex.literal(0, t.I64()))
            case _:
                return None

    return read


def _translate_to_icu(pattern: str) -> str:
    """Return a regular expression in which ``.`` stops at line feeds only, and ``$`` is the end of the text alone."""
    parts = re.findall(r"\\.|\[[^\]]*\]|.", pattern, re.DOTALL)
    return "".join({".": r"[^\n]", "$": r"\z"}.get(part, part) for part in parts)


def _regexp_replace(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read a replacement of the first match; with the flag g of all."""
    match arguments:
        case (text, pattern, ex.Literal(value=str() as replacement) as replacement_literal, *flags) if (
            "$" not in replacement
        ):
            occurrences = {(): 1, ("g",): 0}
            flag_values = tuple(flag.value for flag in flags if isinstance(flag, ex.Literal))
            if flag_values not in occurrences or len(flag_values) != len(flags):
                return None
            numbers = (ex.literal(1, t.I64()), ex.literal(occurrences[flag_values], t.I64()))
            return scalar_call(decoder, "string", "regexp_replace", text, pattern, replacement_literal, *numbers)
        case (_, _, _):
            raise UnsupportedError(
                "DataFusion replaces the first match only, and names groups otherwise in a replacement than the "
                "specification does",
                hint="write the replacement as a literal without $",
            )
        case _:
            return None


def _match_escaped(decoder: Decoder, text: ex.Expression, pattern: str, options: Mapping[str, str]) -> ex.Expression:
    """Return a string that matches a pattern with backslashes, by functions without an escape character.

    Raises:
        UnsupportedError: no function of the specification has such a pattern.
    """
    parts = _parse_pattern(pattern)
    if not any(is_literal and character in "%_" for character, is_literal in parts):
        plain = "".join(character for character, _ in parts)
        return scalar_call(decoder, "string", "like", text, ex.literal(plain, t.String()), **options)
    begins, ends = parts[0] == ("%", False), parts[-1] == ("%", False)
    middle = parts[begins : len(parts) - ends]
    if not all(is_literal for _, is_literal in middle):
        raise UnsupportedError(
            f"the pattern {pattern!r} has wildcards, and characters that are none by a backslash: the specification's "
            "like has no such character",
            hint="only %text%, text% and %text can be read of these",
        )
    sought = ex.literal("".join(character for character, _ in middle), t.String())
    match begins, ends:
        case True, True:
            return scalar_call(decoder, "string", "contains", text, sought, **options)
        case True, False:
            return scalar_call(decoder, "string", "ends_with", text, sought, **options)
        case False, True:
            return scalar_call(decoder, "string", "starts_with", text, sought, **options)
        case _ if options:
            raise UnsupportedError(f"the pattern {pattern!r} is a text that is compared without case")
        case _:
            return scalar_call(decoder, "comparison", "equal", text, sought)


def _parse_pattern(pattern: str) -> list[tuple[str, bool]]:
    """Return the characters of a pattern, each with whether it is a literal."""
    parts: list[tuple[str, bool]] = []
    characters = iter(pattern)
    for character in characters:
        if character == BACKSLASH:
            parts.append((next(characters, BACKSLASH), True))
        else:
            parts.append((character, character not in "%_"))
    return parts


SCALAR_FUNCTIONS: Mapping[str, Reader] = {
    "add": _arithmetic("add"),
    "subtract": _arithmetic("subtract"),
    "multiply": _arithmetic("multiply"),
    "divide": _arithmetic("divide"),
    "modulus": _arithmetic("modulus"),
    "round": _round,
    "logb": _log,
    "signum": _renaming("arithmetic", "sign"),
    "bitwise_shift_left": _shift_bits("shift_left"),
    "bitwise_shift_right": _shift_bits("shift_right"),
    "is_unknown": _renaming("comparison", "is_null"),
    "is_not_unknown": _renaming("comparison", "is_not_null"),
    # They pass over NULL.
    "concat": _renaming("string", "concat", null_handling="IGNORE_NULLS"),
    "greatest": _renaming("comparison", "greatest_skip_null"),
    "least": _renaming("comparison", "least_skip_null"),
    "str_concat": _renaming("string", "concat", null_handling="ACCEPT_NULLS"),
    "character_length": _renaming("string", "char_length"),
    "btrim": _trim("trim"),
    "ltrim": _trim("ltrim"),
    "rtrim": _trim("rtrim"),
    "substring": _substring,
    "left": _end("left"),
    "right": _end("right"),
    "lpad": _pad("lpad"),
    "rpad": _pad("rpad"),
    "like": _like(),
    "ilike": _like_without_case,
    "regexp_replace": _regexp_replace,
    "date_part": date_part,
    "date_trunc": date_trunc,
    "to_char": format_time,
    **{name: compare_durations(name) for name in COMPARISONS},
    "split_part": _split_part,
    "regex_match": _matches("gt"),
    "regex_not_match": _matches("equal"),
    "regexp_like": _matches("gt"),
}
"""The readers of DataFusion's calls, by function name."""
