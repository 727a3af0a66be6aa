"""Random pipelines over small collections: what runs on an engine must agree with the interpreter."""

from __future__ import annotations

import random
from itertools import count

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.partiql import (
    Bag,
    Bindings,
    Tuple,
    Values,
    asc,
    bag,
    desc,
    list_of,
    lit,
    scan,
    struct,
    struct_concat,
    table,
    unpivot,
)
from substrait_dsl.partiql.bindings import JoinHow

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

NESTED: list[dict[str, object]] = [
    {"id": 20, "n": 1, "xs": [3, None, 3], "pairs": [{"n": 1, "s": "a"}, {"n": 2, "s": None}]},
    {"id": 21, "n": None, "xs": [], "pairs": [{"n": 7, "s": "b"}]},
    {"id": 22, "n": 0, "xs": None, "pairs": []},
    {"id": 23, "n": 3, "xs": [-7, 12], "pairs": [{"n": 3, "s": "a"}, {"n": 3, "s": "a"}]},
]
STORED = sd.read_virtual(
    NESTED,
    {
        "id": sd.I64,
        "n": "i64?",
        "xs": "list<i64?>?",
        "pairs": sd.List(sd.Struct.of({"n": sd.I64(), "s": sd.String(nullable=True)})),
    },
)
DATA = {"nested": bag(NESTED)}
"""What the table stands for in the interpreter."""


def pipeline(seed: int) -> Values | Bindings:
    """A few random verbs over a scan, and for some a value of each tuple."""
    return _Pipeline(random.Random(seed)).build()


class _Pipeline:
    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.names = (f"v{number}" for number in count())
        self.structs: list[str] = []
        self.numbers: list[str] = []
        self.lists: list[str] = []
        """The variables whose values have lists."""
        self.places: list[str] = []
        """The variables that tell the rows of one row around them apart."""

    def build(self) -> Values | Bindings:
        rows = self.scanned()
        for _ in range(self.random.randint(1, 4)):
            verbs = (self.filtered, self.filtered, self.crossed, self.lateral, self.let, self.cut, self.nested)
            rows = self.random.choice(verbs)(rows)
        return rows.map_values(self.element) if self.random.random() < 0.6 else rows

    def scanned(self) -> Bindings:
        name = next(self.names)
        self.structs.append(name)
        match self.random.randrange(3):
            case 0:
                return scan(BAG, as_=name)
            case 1:
                self.lists.append(name)
                return scan(table("nested", STORED), as_=name)
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
        how: JoinHow = self.random.choice(("inner", "inner", "left", "right", "full"))
        return rows.join(other, on=self.condition, how=how)

    def lateral(self, rows: Bindings) -> Bindings:
        """The tuples with what is in them: elements of lists, attributes of structs, or parts of other values."""
        if self.random.random() < 0.5:
            made = rows.cross_join(self.inside)
        else:
            how: JoinHow = self.random.choice(("inner", "left"))
            made = rows.join(self.inside, on=self.condition, how=how)
        self.numbers += self.new[:2]
        self.places += [name for name in self.new if name in made.variables]
        return made

    def inside(self, row: Tuple) -> Bindings:
        """What is in a tuple: the values, numbers or none, and where each of them stands."""
        name, index = next(self.names), next(self.names)
        self.new = [name, index]
        of = row[self.random.choice(self.lists or self.structs)]
        kind = self.random.randrange(5)
        match kind:
            case 0:
                found = scan(of["xs"], as_=name, at=index)
            case 1:
                pair = next(self.names)
                found = scan(of["pairs"], as_=pair, at=index).map_let(**{name: lambda inside: inside[pair]["n"]})
            case 2:
                found = scan(list_of(self.number(row), 5, self.number(row)), as_=name, at=index)
            case 3:
                attribute = next(self.names)
                parts = struct(a=self.number(row), q=self.number(row), s=lit(1))
                found = unpivot(parts, as_=name, at=attribute).map_let(**{index: lit(0)})
                self.new.append(attribute)
            case _:
                found = scan(of["n"], as_=name, at=index)
        more = next(self.names)
        match self.random.randrange(6):
            case 0:
                return found.filter(lambda inside: inside[name] > self.number(row))
            case 3:
                self.new.append(more)
                how: JoinHow = self.random.choice(("inner", "left"))
                return found.join(scan([0, 1, 3], as_=more), on=lambda inside: inside[more] > inside[name], how=how)
            case 4:
                self.new.append(more)
                return found.cross_join(
                    lambda inside: (
                        scan(list_of(inside[name], self.number(row), 0), as_=more)
                        .order_by(lambda last: last[more])
                        .limit(1)
                    )
                )
            case 1:
                return found.order_by(desc(lambda inside: inside[name]), lambda inside: inside[index]).limit(1)
            case 2 if kind < 3 and self.lists:  # of what is always missing there is no greatest
                self.new.append(more)
                return found.group_by(
                    {index: lambda inside: inside[index], more: lambda inside: self.number(row) - inside[index]},
                    {name: pq.max(lambda inside: inside[name])},
                )
            case _:
                return found

    def let(self, rows: Bindings) -> Bindings:
        name = next(self.names)
        made = rows.map_let(**{name: self.number})
        self.numbers.append(name)
        return made

    def cut(self, rows: Bindings) -> Bindings:
        """The first tuples in an order that leaves no choice: by what tells all tuples apart."""
        apart = [lambda row, name=name: row[name]["id"] for name in self.structs]
        apart += [lambda row, name=name: row[name] for name in self.places]
        first = self.random.choice((asc, desc))(self.number)
        return rows.order_by(first, *apart).offset(self.random.randint(0, 1)).limit(self.random.randint(2, 6))

    def nested(self, rows: Bindings) -> Bindings:
        """A scan of values, whose kind and order are those of the tuples."""
        inside, name, index = self.random.choice(self.structs), next(self.names), next(self.names)
        made = scan(rows.map_values(lambda row: row[inside]), as_=name, at=index)
        self.structs, self.numbers, self.places = [name], [index], [index]
        self.lists = [name] if inside in self.lists else []
        return made
