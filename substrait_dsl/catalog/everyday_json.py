"""``get_json`` of ``everyday.yaml`` over values of Python: the same text as Spark's, to the digit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from substrait_dsl.catalog.strict_json import NumberText, StrictDecoder
from substrait_dsl.errors import InvalidArgumentError

JSON_PATH = re.compile(r"\$(\.[^.\[\]'?*\s]+|\[(0|[1-9][0-9]{0,8})\]|\['[^'?*]+'\])*")
"""The paths that there are: names, and places in arrays."""
_STEP = re.compile(r"\.([^.\[]+)|\[([0-9]+)\]|\['([^']+)'\]")
_CONTROL = re.compile(r'["\\\x00-\x1f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def get_json(text: str, path: str) -> str | None:
    """Return what stands at a path of a JSON text, None for nothing. Raises `InvalidArgumentError` for another path."""
    if not JSON_PATH.fullmatch(path):
        raise InvalidArgumentError("a path is $, then .name, ['name'] or [0], any number of them", got=path)
    try:
        return _found(_DECODER.decode(text), path)
    except (ValueError, RecursionError):
        return None


def _found(value: Any, path: str) -> str | None:
    for step in _steps(path):
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return None
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    if value is None or (isinstance(value, str) and not isinstance(value, NumberText)):
        return value
    return "".join(_written(value))


@cache
def _steps(path: str) -> Sequence[str | int]:
    """Return the names and places of a path."""
    return [int(place) if place else name or quoted for name, place, quoted in _STEP.findall(path[1:])]


def _integer(digits: str) -> NumberText:
    return NumberText("0" if digits == "-0" else digits)


def _fraction(text: str) -> NumberText:
    return NumberText(float_text(float(text)))


_DECODER = StrictDecoder(_integer, _fraction)


def float_text(value: float) -> str:
    """Write an fp64 in the fewest digits: 0.5 from 0.001 to 10000000, else 5.0E10."""
    if value in (float("inf"), float("-inf")):
        return f'"{"-" * (value < 0)}Infinity"'
    if value == 0 or 0.001 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        return text if "." in text else f"{text}.0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    all_digits = "".join(map(str, digits))
    shown = all_digits.rstrip("0") or "0"
    power = exponent + len(all_digits) - 1
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{power}"


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}"


def _written(value: Any) -> Iterator[str]:
    """Yield the parts of a value as JSON."""
    match value:
        case None:
            yield "null"
        case bool():
            yield "true" if value else "false"
        case NumberText():
            yield value
        case str():
            yield f'"{_CONTROL.sub(_escaped, value)}"'
        case list():
            yield "["
            for number, each in enumerate(value):
                yield from ("," * bool(number), *_written(each))
            yield "]"
        case dict():
            yield "{"
            for number, (name, each) in enumerate(value.items()):
                yield from ("," * bool(number), *_written(name), ":", *_written(each))
            yield "}"
