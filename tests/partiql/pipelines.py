"""Random pipelines over small collections: what runs on an engine must agree with the interpreter."""

from __future__ import annotations

import random
from itertools import count

from substrait_dsl.partiql import Bag, Bindings, Tuple, Values, asc, bag, desc, lit, scan, struct, struct_concat

BAG: Bag = bag(
    [
        {"id": 1, "n": 3, "s": "a", "p": True},
        {"id": 2, "n": None, "s": "b", "p": False},
        {"id": 3, "n": 3, "s": None, "p": None},
        {"id": 4, "n": -7, "s": "a", "p": True},
    ]
)
LIST = [{"id": 10, "n": 3, "q": 1.5}, {"id": 11, "n": 0}, {"id": 12, "n": 3, "q": -0.5}, {"id": 13, "n": 2**40}]
"""The attribute ``q`` is missing in two of them."""


def pipeline(seed: int) -> Values | Bindings:
    """A few random verbs over a scan, and for some a value of each tuple."""
    return _Pipeline(random.Random(seed)).build()


class _Pipeline:
    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.names = (f"v{number}" for number in count())
        self.structs: list[str] = []
        self.numbers: list[str] = []

    def build(self) -> Values | Bindings:
        rows = self.scanned()
        for _ in range(self.random.randint(1, 4)):
            rows = self.random.choice((self.filtered, self.filtered, self.crossed, self.let, self.cut, self.nested))(
                rows
            )
        return rows.map_values(self.element) if self.random.random() < 0.6 else rows

    def scanned(self) -> Bindings:
        name = next(self.names)
        self.structs.append(name)
        if self.random.random() < 0.5:
            return scan(BAG, as_=name)
        index = next(self.names)
        self.numbers.append(index)
        return scan(LIST, as_=name, at=index)

    def number(self, row: Tuple, depth: int = 2) -> Values:
        choice = self.random.randrange(5 if depth else 3)
        if choice == 0:
            return lit(self.random.choice((0, 1, 3, -7, 12)))
        if choice == 1 and self.numbers:
            return row[self.random.choice(self.numbers)]
        if choice <= 2:
            return row[self.random.choice(self.structs)][self.random.choice(("id", "n"))]
        left, right = self.number(row, depth - 1), self.number(row, depth - 1)
        return left - right if choice == 3 else -left

    def condition(self, row: Tuple, depth: int = 2) -> Values:
        of = row[self.random.choice(self.structs)]
        match self.random.randrange(9 if depth else 6):
            case 0:
                return self.number(row) > self.number(row)
            case 1:
                return self.number(row) == self.number(row)
            case 2:
                return of["s"] == "a"  # missing in the list
            case 3:
                return of["q"].is_missing()
            case 4:
                return of[self.random.choice(("n", "q", "s"))].is_null()
            case 5:
                return of["s"] != self.number(row)  # of different kinds
            case 6:
                return ~self.condition(row, depth - 1)
            case 7:
                return self.condition(row, depth - 1) & of["p"]
            case _:
                return self.condition(row, depth - 1) | self.condition(row, depth - 1)

    def element(self, row: Tuple) -> Values:
        match self.random.randrange(4):
            case 0:
                return struct_concat(*(row[name] for name in self.structs))
            case 1:
                return struct(x=self.number(row), q=row[self.structs[0]]["q"], s=row[self.structs[-1]]["s"])
            case 2:
                return self.number(row)
            case _:
                return row[self.random.choice(self.structs)]

    def filtered(self, rows: Bindings) -> Bindings:
        return rows.filter(self.condition)

    def crossed(self, rows: Bindings) -> Bindings:
        other = self.scanned()
        if self.random.random() < 0.5:
            return rows.cross_join(other)
        return rows.join(other, on=self.condition)

    def let(self, rows: Bindings) -> Bindings:
        name = next(self.names)
        made = rows.map_let(**{name: self.number})
        self.numbers.append(name)
        return made

    def cut(self, rows: Bindings) -> Bindings:
        """The first tuples in an order that leaves no choice: by what tells all tuples apart."""
        apart = [lambda row, name=name: row[name]["id"] for name in self.structs]
        first = self.random.choice((asc, desc))(self.number)
        return rows.order_by(first, *apart).offset(self.random.randint(0, 1)).limit(self.random.randint(2, 6))

    def nested(self, rows: Bindings) -> Bindings:
        """A scan of values, whose kind and order are those of the tuples."""
        inside, name, index = self.random.choice(self.structs), next(self.names), next(self.names)
        made = scan(rows.map_values(lambda row: row[inside]), as_=name, at=index)
        self.structs, self.numbers = [name], [index]
        return made
