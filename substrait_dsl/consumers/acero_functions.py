"""Functions of the specification that Acero lacks: composed of functions of pyarrow, and registered there.

Arguments come in batches, as arrays, or as scalars where they are constants. Calls whose other arguments are constants
are computed for a whole array by functions of Arrow; the others row by row. Characters are code points.

Specification: ``functions_string.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

import attrs
import pyarrow as pa
from pyarrow import compute

MAX_BYTES = 2**31 - 1
"""How many bytes of text an array of Arrow has at most."""


@attrs.frozen
class Implementation:
    """How a function is computed, whose arguments are all not NULL; of a NULL it is NULL."""

    output: pa.DataType
    for_row: Callable[..., Any]
    """The value, from values of Python."""
    for_array: Callable[..., pa.Array | None]
    """The values, from an array and further values of Python; None: they have to be computed row by row."""


def _no_array(*_: object) -> None:
    """Nothing: for functions that are called with columns alone."""


# --- like: % is any text, _ any character, and nothing is an escape


@lru_cache(256)
def like_expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of Python for a pattern of LIKE: it goes back to no part that it has found.

    What is between two ``%`` is taken where it is found first: what follows is found behind it, if behind any other.
    """
    first, *others = pattern.split("%")
    if not others:
        return re.compile(_characters(first, r"\Z"), re.DOTALL)
    *between, last = others
    parts = [f"(?>.*?{_characters(part)})" for part in between if part]
    return re.compile("".join([_characters(first), *parts, ".*", _characters(last, r"\Z")]), re.DOTALL)


def _characters(part: str, end: str = "") -> str:
    """Return a part of a pattern without ``%``, as a part of a regular expression."""
    return ".".join(map(re.escape, part.split("_"))) + end


def _like(text: str, pattern: str) -> bool:
    return like_expression(pattern).match(text) is not None


def _like_all(texts: pa.Array, pattern: str) -> pa.Array | None:
    expression = ".*".join(".".join(map(_quote_regex, part.split("_"))) for part in pattern.split("%"))
    try:
        return compute.match_substring_regex(texts, pattern=rf"(?s)\A{expression}\z")
    except pa.ArrowInvalid:  # it is too large for the library of regular expressions
        return None


def _quote_regex(text: str) -> str:
    """Return a text as a regular expression of RE2, for which a backslash before any sign of ASCII means that sign."""
    return re.sub(r"(?!\w)[\x01-\x7f]", r"\\\g<0>", text)


# --- parts of texts


def _bounds(start: int, length: int | None) -> tuple[int, int | None] | None:
    """Return the bounds of a slice of Python.

    None: it has no character. A negative start counts from the end, 0 is 1.
    """
    if length is not None and length <= 0:
        return None
    first = start - 1 if start > 0 else start
    if length is None:
        return first, None
    last = first + length
    return first, (None if first < 0 <= last else last)


def _substring(text: str, start: int, length: int | None = None) -> str:
    bounds = _bounds(start, length)
    return "" if bounds is None else text[slice(*bounds)]


def _substrings(texts: pa.Array, start: int, length: int | None = None) -> pa.Array:
    bounds = _bounds(start, length)
    return _slice_texts(texts, *((0, 0) if bounds is None else bounds))


def _slice_texts(texts: pa.Array, start: int, stop: int | None) -> pa.Array:
    return compute.utf8_slice_codeunits(texts, start=start, stop=stop)


def _take_left(text: str, count: int) -> str:
    return text[: max(count, 0)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _right_of_all(texts: pa.Array, count: int) -> pa.Array:
    return _slice_texts(texts, -count, None) if count > 0 else _slice_texts(texts, 0, 0)


# --- searching and replacing


def _position(text: str, part: str) -> int:
    return text.find(part) + 1


def _positions(texts: pa.Array, part: str) -> pa.Array | None:
    if not part or not _is_ascii(texts):  # Arrow counts bytes
        return None
    return compute.add(compute.find_substring(texts, pattern=part).cast(pa.int64()), 1)


def _is_ascii(texts: pa.Array) -> bool:
    return compute.all(compute.string_is_ascii(texts)).as_py() is not False


def _replace_text(text: str, part: str, other: str) -> str:
    return text.replace(part, other) if part else text


def _all_replaced(texts: pa.Array, part: str, other: str) -> pa.Array:
    return compute.replace_substring(texts, pattern=part, replacement=other) if part else texts


# --- new texts


def _repeat_text(text: str, count: int) -> str:
    _require_room(len(text.encode()) * count)
    return text * count


def _all_repeated(texts: pa.Array, count: int) -> pa.Array:
    count = max(count, 0)
    _require_room((compute.sum(compute.binary_length(texts)).as_py() or 0) * count)
    return compute.binary_repeat(texts, min(count, MAX_BYTES))


def _require_room(size: int) -> None:
    """Raise an error of Arrow for texts that have no place in an array."""
    if size > MAX_BYTES:
        raise pa.ArrowInvalid(f"repeat gives too long a text, of {size} bytes")


def _convert_ascii(convert: Callable[[pa.Array], pa.Array], texts: pa.Array) -> pa.Array | None:
    """Convert texts by a function of Arrow if all are ASCII: it maps no letter to several, and ignores context."""
    return convert(texts) if _is_ascii(texts) else None


def _trim_texts(trim: Callable[..., pa.Array], texts: pa.Array, characters: str) -> pa.Array:
    return trim(texts, characters=characters) if characters else texts


IMPLEMENTATIONS: Mapping[str, Implementation] = {
    "like:str_str": Implementation(pa.bool_(), _like, _like_all),
    "starts_with:str_str": Implementation(pa.bool_(), str.startswith, _no_array),
    "ends_with:str_str": Implementation(pa.bool_(), str.endswith, _no_array),
    "contains:str_str": Implementation(pa.bool_(), str.__contains__, _no_array),
    "substring:str_i32": Implementation(pa.string(), _substring, _substrings),
    "substring:str_i32_i32": Implementation(pa.string(), _substring, _substrings),
    "left:str_i32": Implementation(pa.string(), _take_left, lambda texts, count: _slice_texts(texts, 0, max(count, 0))),
    "right:str_i32": Implementation(pa.string(), _right, _right_of_all),
    "strpos:str_str": Implementation(pa.int64(), _position, _positions),
    "replace:str_str_str": Implementation(pa.string(), _replace_text, _all_replaced),
    "repeat:str_i64": Implementation(pa.string(), _repeat_text, _all_repeated),
    "ltrim:str_str": Implementation(pa.string(), str.lstrip, partial(_trim_texts, compute.utf8_ltrim)),
    "rtrim:str_str": Implementation(pa.string(), str.rstrip, partial(_trim_texts, compute.utf8_rtrim)),
    "trim:str_str": Implementation(pa.string(), str.strip, partial(_trim_texts, compute.utf8_trim)),
    "lower:str": Implementation(pa.string(), str.lower, partial(_convert_ascii, compute.ascii_lower)),
    "upper:str": Implementation(pa.string(), str.upper, partial(_convert_ascii, compute.ascii_upper)),
}
"""By the key of a function of ``functions_string.yaml`` how it is computed."""

TYPES: Mapping[str, pa.DataType] = {"str": pa.string(), "i32": pa.int32(), "i64": pa.int64()}
"""The types of arguments, as keys of functions have them."""


def compute_batch(implementation: Implementation, length: int, arguments: tuple[Any, ...]) -> pa.Array:
    """Compute the calls of a batch of rows.

    Args:
        implementation: how the function is computed.
        length: how many rows the batch has.
        arguments: for each argument an array, or a scalar that holds for all rows.

    Returns:
        The values, as many as there are rows.

    Raises:
        ArrowInvalid: a value is too large, or a text is none in UTF-8.
    """
    try:
        return _compute_rows(implementation, length, arguments)
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid(f"a text is not in UTF-8: {error}") from error


def _compute_rows(implementation: Implementation, length: int, arguments: tuple[Any, ...]) -> pa.Array:
    first, *others = arguments
    if any(isinstance(each, pa.Scalar) and not each.is_valid for each in arguments):
        return pa.nulls(length, implementation.output)
    if all(isinstance(each, pa.Scalar) for each in arguments):
        value = implementation.for_row(*(each.as_py() for each in arguments))
        return pa.repeat(pa.scalar(value, implementation.output), length)
    if isinstance(first, pa.Array) and all(isinstance(each, pa.Scalar) for each in others):
        found = implementation.for_array(first, *(each.as_py() for each in others))
        if found is not None:
            return found
    rows = zip(*(_values(each, length) for each in arguments), strict=True)
    values = [None if None in row else implementation.for_row(*row) for row in rows]
    return pa.array(values, implementation.output)


def _values(argument: Any, length: int) -> Iterable[Any]:
    if isinstance(argument, pa.Scalar):
        return [argument.as_py()] * length
    values: list[Any] = argument.to_pylist()
    return values


SUMMARY = "A function of Substrait, registered by substrait_dsl"
"""The summary of the functions in the registry of pyarrow, by which they are recognised."""


def register(name_of: Callable[[str], str]) -> None:
    """Register the functions in pyarrow, those that are not there yet.

    Args:
        name_of: gives, by the key of a function, the name that plans call it by.

    Raises:
        KeyError: another function has such a name; that is the argument.
    """
    registry = compute.function_registry()
    there = set(registry.list_functions())
    for key in IMPLEMENTATIONS:
        name = name_of(key)
        if name not in there:
            _register(key, name)
        elif registry.get_function(name)._doc.summary != SUMMARY:
            raise KeyError(name)


def _register(key: str, name: str) -> None:
    implementation = IMPLEMENTATIONS[key]
    types = [TYPES[each] for each in key.partition(":")[2].split("_")]
    compute.register_scalar_function(
        _callable(implementation, len(types)),
        name,
        {"summary": SUMMARY, "description": f"{key} of functions_string.yaml"},
        {f"argument{number}": type_ for number, type_ in enumerate(types)},
        implementation.output,
    )


def _callable(implementation: Implementation, arguments: int) -> Callable[..., pa.Array]:
    """Return a function of so many arguments: pyarrow would take one of any number for one of any number."""
    match arguments:
        case 1:
            return lambda context, a: compute_batch(implementation, context.batch_length, (a,))
        case 2:
            return lambda context, a, b: compute_batch(implementation, context.batch_length, (a, b))
        case _:
            return lambda context, a, b, c: compute_batch(implementation, context.batch_length, (a, b, c))
