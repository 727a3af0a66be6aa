"""Texts of typed columns, and the values that they have by Python's own parsers, or None where they have none."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import substrait_dsl as sd

_TRUTH = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def _matched(pattern: str, text: str) -> str | None:
    found = re.fullmatch(pattern, text.strip(" \t"), re.ASCII)
    return None if found is None else found[0]


def _integer(bits: int) -> Callable[[str], int | None]:
    def value(text: str) -> int | None:
        found = _matched(r"[+-]?\d+", text)
        return int(found) if found is not None and -(2 ** (bits - 1)) <= int(found) < 2 ** (bits - 1) else None

    return value


def _boolean(text: str) -> bool | None:
    return _TRUTH.get(text.strip(" \t").lower())


def _decimal(text: str) -> Decimal | None:
    """Of 5 digits, 2 of them after the point."""
    found = _matched(r"[+-]?(\d+\.?\d*|\.\d+)", text)
    exact = None if found is None else Decimal(found)
    return exact if exact is not None and abs(exact) < 1000 and exact == round(exact, 2) else None


def _float(text: str) -> float | None:
    found = _matched(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))|(?i:nan)", text)
    return None if found is None else float(found)


def _moment(form: str) -> Callable[[str], dt.datetime | None]:
    def value(text: str) -> dt.datetime | None:
        found = _matched(form, text)
        try:
            return None if found is None else dt.datetime.fromisoformat(found)
        except ValueError:
            return None

    return value


def _date(text: str) -> dt.date | None:
    moment = _moment(r"\d{4}-\d\d-\d\d")(text)
    return None if moment is None else moment.date()


_FRACTION = r"(\.\d{1,6})?"

VALUES: Mapping[str, Callable[[str], Any]] = {
    "i8": _integer(8),
    "i32": _integer(32),
    "i64": _integer(64),
    "boolean": _boolean,
    "decimal<5,2>": _decimal,
    "fp64": _float,
    "date": _date,
    "precision_timestamp<6>": _moment(rf"\d{{4}}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d{_FRACTION})?)?"),
    "precision_timestamp_tz<6>": _moment(rf"\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d{_FRACTION}(Z|[+-]\d\d:[0-5]\d)"),
}
"""By its type, the value that a text has; None: it has none."""

TEXTS: Mapping[str, str] = {
    "i8": "1|-128|128| 7 |+5|1.0|1e2|07",
    "i32": "2147483647|2147483648|1,000|0x1F|1_000|\t12|--1|12abc|1 2",
    "i64": "9223372036854775807|9223372036854775808|-0|many|1L|\u0663|-|1.",
    "boolean": "true|T|Yes|1|0|no|F|on|off|2| true |wahr|01|tru",
    "decimal<5,2>": "1|1.5|999.99|1000|1.239|1.500|.5|-.05|5.|1,5|1e2|\u0661|.|+1.25",
    "fp64": "1|1.5e3|-inf|Infinity|NaN|nan|1d|0x1p3|.5|5.|1,5|1_0|1e|e5|+2",
    "date": "2024-05-31|2024-02-30|2024-5-1|2024|2024-05|20240531|31/05/2024| 2024-05-31 |today|2024-05-31 10:00:00"
    "|0001-01-01|9999-12-31",
    "precision_timestamp<6>": "2024-05-31|2024-05-31 10:00|2024-05-31T10:00:59.123456|2024-05-31 25:00:00"
    "|2024-05-31 10:00:00Z|2024-05-31 10:00:00.1234567|10:00:00|now|2024-05-31 1:00|2024-05-31 10",
    "precision_timestamp_tz<6>": "2024-05-31T10:00:00Z|2024-05-31 10:00:00+02:00|2024-05-31 10:00:00"
    "|2024-05-31T10:00:00.5-05:30|2024-05-31T10:00:00 UTC|2024-05-31T10:00Z|2024-05-31Z",
}
"""By a type, texts with a bar between: values, and what is nearly one."""

_LETTERS = "0123456789+-.eE :TZ/dnaif tru1,\t_"


def texts_of(type_: str, random: Random, many: int) -> list[str]:
    """Return the texts of a type, and as many that differ from them by a few characters."""
    texts = TEXTS[type_].split("|")
    return texts + [_changed(random.choice(texts), random) for _ in range(many)]


def _changed(text: str, random: Random) -> str:
    for _ in range(random.randint(0, 3)):
        place = random.randint(0, len(text))
        text = text[:place] + random.choice(("", random.choice(_LETTERS))) + text[place + random.randint(0, 1) :]
    return text


def rows_are_right(folder: Path, session: Any, seed: int, many: int) -> None:
    """Read texts of each type, and compare what they give with Python's parsers: the value, NULL, and an error."""
    random = Random(seed)
    for type_, value in VALUES.items():
        texts = texts_of(type_, random, many)
        path = folder / f"{random.random()}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("n", "x"), *enumerate(texts)])
        read = sd.read_csv(path, {"n": "i64?", "x": f"{type_}?"}, invalid="null")
        found: dict[int, object] = dict(read.collect(session))
        assert {n: _plain(x) for n, x in found.items()} == {n: _plain(value(text)) for n, text in enumerate(texts)}


def _plain(value: Any) -> object:
    """Return a value that equals another one if it is of the same type: NaN is itself, moments are in UTC."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return type(value), "NaN" if isinstance(value, float) and math.isnan(value) else value
