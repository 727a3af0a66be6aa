"""Random expressions over columns of every shape: what runs on an engine must agree with the interpreter."""

from __future__ import annotations

import random
from collections.abc import Callable

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.partiql import Bag, Bindings, Tuple, Values, scan

SCHEMA = {
    "a": "i32?",
    "b": "i64",
    "x": "fp64?",
    "xs": "list<i32?>?",
    "ys": "list<i32>",
    "m": "map<string, i64?>?",
    "n": "map<string, i64>",
    "s": "struct<i64, string?>?",
    "ss": "list<struct<i64?>>?",
}
ROWS = [
    (1, 0, 2.5, [1, None], [7], {"k": 1, "z": None}, {"k": 5}, (1, "a"), [(1,)]),
    (None, 3, 0.0, [], [], {}, {}, (2, None), []),
    (-7, 2, None, None, [1, 2, 3], None, {"z": 0}, None, None),
    (0, -2, -0.0, [4, 5, 6], [0, 1], {"z": 0}, {"k": 0, "z": 9}, (0, "k"), [(None,), (3,)]),
]
TABLE = sd.read_virtual(ROWS, SCHEMA)


def _struct(row: tuple[object, ...]) -> dict[str, object]:
    """A row as PartiQL sees it: maps and structs are structs."""
    made = dict(zip(SCHEMA, row, strict=True))
    inner = made["s"]
    made["s"] = None if inner is None else dict(zip(("0", "1"), inner, strict=True))  # type: ignore[call-overload]
    items = made["ss"]
    made["ss"] = None if items is None else [{"0": item} for (item,) in items]  # type: ignore[attr-defined]
    return made


DATA: dict[str, Bag] = {"t": pq.bag([_struct(row) for row in ROWS])}

OTHER = [
    {"i": 0, "c": 3, "d": "a", "e": [1, 2]},
    {"i": 1, "c": None, "e": [3]},
    {"i": 2, "d": None, "f": {"g": 1}},
    {"i": 3, "c": -1, "d": "b", "e": None},
]
"""Values whose attributes are null in some, and missing in others."""

DIRECT: tuple[Callable[[Tuple], Values], ...] = (
    lambda r: r.t.xs[1],
    lambda r: r.t.ys[1],
    lambda r: r.t.m["z"],
    lambda r: r.t.n["k"],
    lambda r: r.t.ss[0]["0"],
    lambda r: r.t.a / r.t.b,
    lambda r: r.t.b % r.t.b,
    lambda r: r.u.c,
    lambda r: r.u.e[1],
    lambda r: r.u.f.g.is_missing(),
)
"""Expressions that have a value for some rows, and in strict mode are errors for others."""


def rows() -> Bindings:
    """Every row of the table with every other value."""
    return scan(TABLE.as_value("t"), as_="t").cross_join(scan(pq.lit(pq.bag(OTHER)), as_="u"))


def number_of(row: Tuple) -> Values:
    """What tells the rows apart."""
    return row.t.b * 10 + row.u.i


class Parts:
    """Draws expressions."""

    def __init__(self, seed: int, row: Tuple) -> None:
        self.random = random.Random(seed)
        self.row = row

    def any(self, depth: int = 2) -> Values:
        match self.random.randrange(5):
            case 0:
                return self.text()
            case 1:
                return self.boolean(depth)
            case 2:
                return self.absent_result()
            case _:
                return self.number(depth)

    def number(self, depth: int) -> Values:
        t, u = self.row.t, self.row.u
        index, name = self.random.randrange(3), self.random.choice(("k", "z"))
        if depth and self.random.random() < 0.5:
            left, right = self.number(depth - 1), self.number(depth - 1)
            match self.random.randrange(3):
                case 0:
                    return left / right
                case 1:
                    return left % right
                case _:
                    return left - right
        constant = pq.lit(self.random.choice((0, 1, 3, -7, None)))
        parts = (t.xs[index], t.ys[index], t.m[name], t.n[name], t.s["0"], t.ss[index]["0"], u.c, u.e[index], u.f.g)
        return self.random.choice((*parts, t.a, t.b, t.xs[-1], constant))

    def text(self) -> Values:
        return self.random.choice((self.row.t.s["1"], self.row.u.d, pq.lit("a"), self.row.t.m))

    def absent_result(self) -> Values:
        """What has no value for all rows, or for those in which something is there."""
        t = self.row.t
        return self.random.choice((t.xs["q"], t.s.q, t.a.q, t.ys[-1], t.s["1"] - 1, t.x / t.b, t.x / t.x, t.xs < t.xs))

    def boolean(self, depth: int) -> Values:
        inner = max(depth - 1, 0)
        made, other, number = self.any(inner), self.any(inner), self.number(inner)
        match self.random.randrange(8):
            case 0:
                return made.is_missing()
            case 1:
                return made.is_null()
            case 2:
                return pq.lit(0) < number
            case 3:
                return pq.lit(0) == number
            case 4:
                return made.is_in(self.random.choice(([0, 1, None, "a"], self.row.t.xs, self.row.t.ys, self.row.u.e)))
            case 5:
                return pq.struct(i=number, j=self.row.u.d) == pq.struct(j="a", i=self.number(0))
            case 6:
                return pq.list_of(number, self.row.u.c) != pq.list_of(self.number(0), self.row.t.a)
            case _:
                return (made == other) | (pq.lit(1) == number)
