"""Random programs over texts on Acero: functions inside of each other, in filters, groups, joins and distinct rows.

Their values are those of the definitions, computed row by row in Python.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import attrs
import pyarrow as pa
import pytest

import substrait_dsl as sd
from tests.engines.test_acero_functions import SIGNS, like, position, substring, trimmed
from tests.support import f

Row = dict[str, Any]
Pair = tuple[Any, Callable[..., Any]]
"""What makes a call, and what computes its value."""

TABLE: Any = sd.read_named(
    "texts", {"id": "i64", "s": "string?", "t": "string?", "p": "string?", "n": "i32?", "q": "string"}
)
PROGRAMS = 60
"""How many programs there are of each seed."""


@attrs.frozen
class Value:
    """An expression, and its value of a row."""

    expression: Callable[[Any], Any]
    of_row: Callable[[Row], Any]


def call(make: Callable[..., Any], compute: Callable[..., Any], *arguments: Value) -> Value:
    """A call of a function, which is NULL where an argument is."""

    def of_row(row: Row) -> Any:
        values = [each.of_row(row) for each in arguments]
        return None if None in values else compute(*values)

    return Value(lambda row: make(*(each.expression(row) for each in arguments)), of_row)


def column(name: str) -> Value:
    return Value(lambda row: row[name], lambda row: row[name])


def constant(value: Any, kind: str) -> Value:
    return Value(lambda row: sd.lit(value, kind), lambda row: value)


class Chance:
    """Random values of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, signs: str, most: int) -> str:
        return "".join(self.random.choices(signs, k=self.random.randint(0, most)))

    def rows(self, count: int) -> list[Row]:
        choose = self.random.choice
        return [
            {
                "id": number,
                "s": choose([None, self.text(SIGNS, 6), self.text(SIGNS, 6)]),
                "t": choose([None, self.text(SIGNS, 3), self.text(SIGNS, 2)]),
                "p": choose([None, self.text("ab%_é😊\\", 4)]),
                "n": choose([None, *range(-4, 6)]),
                "q": self.text(SIGNS, 4),
            }
            for number in range(count)
        ]

    def texts(self, depth: int) -> Value:
        """A text, of calls to some depth."""
        if depth <= 0 or self.random.random() < 0.2:
            return self.random.choice([*map(column, "stq"), constant(self.text(SIGNS, 3), "string")])
        first = self.texts(depth - 1)
        match self.random.choice(["substring", "replace", "trim", "letters", "sides", "concat", "coalesce", "case"]):
            case "substring":
                bounds = [self.numbers() for _ in range(self.random.randint(1, 2))]
                return call(f.substring, substring, first, *bounds)
            case "replace":
                others = self.texts(depth - 1), self.texts(0)
                return call(f.replace, lambda a, b, c: c.join(a.split(b)) if b else a, first, *others)
            case "trim":
                name, left, right = self.random.choice(
                    [("trim", True, True), ("ltrim", True, False), ("rtrim", False, True)]
                )
                function = getattr(f, name)
                return call(function, lambda a, b: trimmed(a, b, left=left, right=right), first, self.texts(0))
            case "letters":
                letters: list[Pair] = [(f.upper, str.upper), (f.lower, str.lower), (f.reverse, lambda a: a[::-1])]
                return call(*self.random.choice(letters), first)
            case "sides":
                sides: list[Pair] = [
                    (f.left, lambda a, n: a[: max(n, 0)]),
                    (f.right, lambda a, n: a[-n:] if n > 0 else ""),
                ]
                return call(*self.random.choice(sides), first, self.numbers())
            case "concat":
                return call(f.concat, lambda a, b: a + b, first, self.texts(depth - 1))
            case "coalesce":
                other = self.texts(depth - 1)
                return Value(
                    lambda row: f.coalesce(first.expression(row), other.expression(row)),
                    lambda row: other.of_row(row) if first.of_row(row) is None else first.of_row(row),
                )
            case _:
                test, other = self.tests(depth - 1), self.texts(depth - 1)
                return Value(
                    lambda row: (
                        sd.when(test.expression(row)).then(first.expression(row)).otherwise(other.expression(row))
                    ),
                    lambda row: first.of_row(row) if test.of_row(row) else other.of_row(row),
                )

    def numbers(self) -> Value:
        numbers = [*range(-4, 6), -(2**31), 2**31 - 1]
        return self.random.choice([column("n"), constant(self.random.choice(numbers), "i32")])

    def tests(self, depth: int) -> Value:
        """A condition over texts of some depth."""
        text = self.texts(depth)
        match self.random.choice(["like", "like of a column", "search", "strpos", "length", "equal", "NULL", "not"]):
            case "like":
                return call(f.like, like, text, constant(self.text("ab%%_é😊\\", 5), "string"))
            case "like of a column":
                return call(f.like, like, text, column("p"))
            case "search":
                pairs = [
                    (f.starts_with, str.startswith), (f.ends_with, str.endswith), (f.contains, lambda a, b: b in a),
                ]  # fmt: skip
                return call(*self.random.choice(pairs), text, self.texts(0))
            case "strpos":
                return call(lambda a, b: f.strpos(a, b) > 1, lambda a, b: position(a, b) > 1, text, self.texts(0))
            case "length":
                return call(lambda a: f.char_length(a) > 2, lambda a: len(a) > 2, text)
            case "equal":
                return call(lambda a, b: a == b, lambda a, b: a == b, text, self.texts(depth))
            case "NULL":
                return Value(lambda row: f.is_null(text.expression(row)), lambda row: text.of_row(row) is None)
            case _:
                return call(lambda a: ~a, lambda a: not a, call(f.like, like, text, column("p")))


def program(chance: Chance, rows: list[Row]) -> tuple[Any, list[tuple[Any, ...]]]:
    """A relation, and its rows."""
    value, test = chance.texts(3), chance.tests(3)
    make, of_row = value.expression, value.of_row
    match chance.random.randint(0, 4):
        case 0:
            found = [(row["id"], of_row(row), test.of_row(row)) for row in rows]
            return TABLE.select("id", v=make, w=test.expression), found
        case 1:
            return TABLE.filter(test.expression).select("id", v=make), [
                (row["id"], of_row(row)) for row in rows if test.of_row(row)
            ]
        case 2:
            groups: dict[Any, list[int]] = defaultdict(list)
            for row in rows:
                groups[of_row(row)].append(row["id"])
            grouped = TABLE.group_by(v=make).agg(n=f.count(), least=lambda r: f.min(r.id))
            return grouped, [(key, len(some), min(some)) for key, some in groups.items()]
        case 3:
            left, right = TABLE.select(v=make, a=sd.col("id")), TABLE.select(w=make, b=sd.col("id"))
            values = [(of_row(row), row["id"]) for row in rows]
            pairs = [(one, other) for key, one in values for same, other in values if key is not None and key == same]
            return left.join(right, lambda x, y: x.v == y.w).select("a", "b"), pairs
        case _:
            distinct = {(of_row(row), test.of_row(row)) for row in rows}
            return TABLE.select(v=make, w=test.expression).distinct(), list(distinct)


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_those_of_the_definitions(seed: int) -> None:
    chance = Chance(seed)
    rows = chance.rows(40)
    table = pa.Table.from_pylist(rows, TABLE.schema.to_arrow())
    cut = chance.random.randint(0, len(rows))
    session = sd.AceroSession({"texts": pa.concat_tables([table.slice(0, cut), table.slice(0, 0), table.slice(cut)])})
    for number in range(PROGRAMS):
        relation, expected = program(chance, rows)
        found = [tuple(row) for row in relation.collect(session)]
        assert Counter(found) == Counter(expected), f"{number}: {relation}"
