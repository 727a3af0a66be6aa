"""The steps of random pipelines that have one input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from tests.differential.expressions import Column
from tests.differential.measures import Measures, Rel
from tests.differential.tables import KINDS, TABLES, VALUES, read


class Steps(Measures):
    """Builds relations of none, and of one input."""

    def size(self, relation: Rel) -> int:
        """How many rows a relation may have, roughly."""
        return self.sizes.get(id(relation._rel), 11)

    def sized(self, relation: Rel, size: int) -> Rel:
        """The relation, known to have so many rows."""
        self.kept.append(relation)
        self.sizes[id(relation._rel)] = size
        return relation

    def start(self, outer: Sequence[Column]) -> Rel:
        """A table, or rows in the plan."""
        if self.chance(0.12):
            return self.virtual()
        name = self.random.choices(tuple(TABLES), (6, 6, 5, 5, 5, 1, 2))[0]
        relation = read(name)
        columns = TABLES[name][0]
        match self.random.randrange(8):
            case 0:
                chosen = self.random.sample(tuple(columns), self.random.randint(2, len(columns)))
                return self.sized(sd.read_named(name, columns, columns=chosen), 11)
            case 1:
                condition = lambda r: self.expressions(r, relation, (), 0).boolean(1)  # noqa: E731
                return sd.read_named(name, columns, filter=condition)
        return relation

    def virtual(self) -> Rel:
        kinds = [type_.with_nullability(self.chance(0.6)) for type_ in self.random.sample(KINDS, 3)]
        rows = [
            tuple(None if type_.nullable and self.chance(0.3) else self.constant(type_) for type_ in kinds)
            for _ in range(self.random.choice((0, 1, 2, 4, 6)))
        ]
        return sd.read_virtual(rows, {self.name(): type_ for type_ in kinds})

    def constant(self, type_: t.Type) -> Any:
        return self.random.choice(VALUES[type_.as_required()])

    # --- one input

    def filter(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        many = self.random.choice((1, 1, 2))
        conditions = [lambda r: self.expressions(r, relation, outer, depth).boolean() for _ in range(many)]
        return self.sized(relation.filter(*conditions), self.size(relation))

    def project(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        def new(r: Any) -> Any:
            expressions = self.expressions(r, relation, outer, depth)
            return expressions.of(expressions.some_kind())

        names = [self.name() for _ in range(self.random.choice((1, 1, 2)))]
        if self.chance(0.5):
            return self.sized(relation.project(**dict.fromkeys(names, new)), self.size(relation))
        kept = self.random.sample(range(len(relation.schema)), self.random.randint(1, min(3, len(relation.schema))))
        narrow = self.sized(relation.emit([*kept]), self.size(relation))
        relation = narrow if self.chance(0.3) else relation
        made = relation.project(**dict.fromkeys(names, new))
        width = len(relation.schema)
        chosen = [self.random.randrange(width), *range(width, width + len(names))]
        return self.sized(made.emit(chosen), self.size(relation))

    def emit(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        width = len(relation.schema)
        positions = self.random.choices(range(width), k=self.random.randint(1, width + 1))
        return self.sized(relation.emit(positions), self.size(relation))

    def total_order(self, relation: Rel) -> list[Any]:
        """Sort keys that leave no two different rows in either order."""
        numbers = self.random.sample(range(len(relation.schema)), len(relation.schema))
        keys = [key for number in numbers for key in self.keys(relation, number)]
        if self.chance(0.3):
            keys.insert(0, lambda r: sd.desc(self.expressions(r, relation, (), 0).boolean(1), nulls="last"))
        return keys

    def sort(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A sort, perhaps steps that keep the order, and a fetch."""
        relation = relation.sort(*self.total_order(relation))
        for _ in range(self.random.choice((0, 0, 1, 2))):
            steps = [Steps.filter, Steps.project]
            if len(relation.properties.ordering) >= len(relation.schema):
                steps.append(Steps.ranked)
            relation = self.random.choice(steps)(self, relation, outer, depth)
        rows = self.random.choice((0, 1, 3, 5, 9, None))
        offset = self.random.choice((0, 0, 0, 1, 2))
        return self.sized(relation.fetch(rows, offset), min(rows or 11, self.size(relation)))

    def top_n(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        rows = self.random.choice((0, 1, 2, 4))
        if self.chance(0.6):
            keys = self.keys(relation, self.random.randrange(len(relation.schema)))
            return relation.top_n(rows, *keys, with_ties=True)
        ties = self.chance(0.3)
        return relation.top_n(rows, *self.total_order(relation), offset=self.random.choice((0, 1, 2)), with_ties=ties)

    def aggregate(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        measures: dict[str, Any] = {
            self.name(): self.measure(relation, outer, depth) for _ in range(self.random.randint(1, 3))
        }
        width = len(relation.schema)
        chosen = self.random.sample(range(width), min(width, self.random.choice((0, 1, 1, 2))))
        keys: list[Any] = [self.named(number) for number in chosen]
        if len(keys) == 2 and self.chance(0.7):
            return relation.aggregate(*keys, grouping_sets=self.grouping_sets(), **measures)
        if keys and self.chance(0.2):
            keys.append(lambda r: self.expressions(r, relation, outer, 0).boolean(1).alias("key"))
        if keys and self.chance(0.1):
            measures = {}
        return relation.aggregate(*keys, **measures)

    def named(self, number: int) -> Callable[[Any], Any]:
        """A column under a name that no other has."""
        name = self.name()
        return lambda r: r[number].alias(name)

    def grouping_sets(self) -> list[tuple[int, ...]]:
        some: tuple[tuple[int, ...], ...] = ((0, 1), (0,), (1,), ())
        sets = self.random.choices(some, k=self.random.randint(1, 3))
        if {0, 1} - {key for keys in sets for key in keys}:
            sets.append((1, 0))
        return sets

    def window(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """Window functions, as a relation or in a project, which keeps no order."""
        order = self.total_order(relation) if self.chance(0.6) else None
        return self.windowed(relation, outer, order, in_project=self.chance(0.3))

    def ranked(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A window in which equal rows get equal values."""
        return self.windowed(relation, outer, None)

    def windowed(
        self, relation: Rel, outer: Sequence[Column], order: list[Any] | None, in_project: bool = False
    ) -> Rel:
        width = len(relation.schema)
        partitions = self.random.sample(range(width), min(width, self.random.choice((0, 1, 1, 2))))
        total = order is not None
        if order is None:
            order = self.keys(relation, self.random.randrange(width)) if self.chance(0.8) else []
        functions: dict[str, Any] = {
            self.name(): self.window_function(relation, outer, total, order) for _ in range(self.random.choice((1, 2)))
        }
        if in_project:
            over = {
                name: lambda r, made=made: made(r).over(partition_by=[r[n] for n in partitions], order_by=order)
                for name, made in functions.items()
            }
            return self.sized(relation.project(**over), self.size(relation))
        return self.sized(relation.window(partition_by=partitions, order_by=order, **functions), self.size(relation))

    def expand(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        def switching(r: Any) -> Any:
            expressions = self.expressions(r, relation, outer, 0)
            type_ = expressions.some_kind()
            return sd.switching(*(expressions.of(type_, 1) for _ in range(copies)))

        copies = self.random.choice((1, 2, 3))
        fields: dict[str, Any] = {self.name(): number for number in range(len(relation.schema)) if self.chance(0.5)}
        fields |= {self.name(): switching for _ in range(self.random.choice((1, 2)))}
        return self.sized(relation.expand(index=self.name(), **fields), copies * self.size(relation))

    def unnest(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """The elements of a list that is put together of the row's values."""
        many = self.random.choice((0, 1, 2, 3))

        def lists(r: Any) -> Any:
            expressions = self.expressions(r, relation, outer, 0)
            type_ = expressions.some_kind()
            if many == 0:
                return sd.lit([], t.List(type_))
            made = sd.list_of(*(expressions.of(type_, 1) for _ in range(many)))
            return sd.when(expressions.boolean(1)).then(made).otherwise(None) if self.chance(0.3) else made

        made = relation.unnest(lists, element=self.name(), offset=self.name())
        return self.sized(made, many * self.size(relation))

    def move(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """What changes no rows."""
        column = self.random.randrange(len(relation.schema))
        made = self.random.choice(
            (
                lambda: relation.exchange(sd.scatter(column)),
                lambda: relation.exchange(sd.broadcast()),
                lambda: relation.exchange(sd.round_robin(), partition_count=2),
                relation.merging_capture,
                lambda: relation.hint(row_count=10, alias="x"),
                lambda: sd.shared(relation).cross(sd.read_virtual([(1,)], {self.name(): "i32"})),
            )
        )()
        return self.sized(made, self.size(relation))
