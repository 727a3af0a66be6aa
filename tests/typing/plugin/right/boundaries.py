"""Functions, classes and variables that hold relations and expressions: what a program is made of besides pipelines."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, Parts, items, orders, parts


class Total(sd.Schema):
    part: sd.I64
    total: sd.Nullable[sd.I64]


class Labelled(Total):
    label: sd.String


S = TypeVar("S", bound=sd.Schema)
R = TypeVar("R", bound=sd.Relation[Any])
N = TypeVar("N", bound=sd.Null)


def total(of: sd.Relation[Items]) -> sd.Relation[Total]:
    """Declared on both sides; the plugin knows the columns between."""
    return of.group_by("part").agg(total=lambda i: f.sum(i.order)).as_(Total)


def labelled(of: sd.Relation[Total], by: sd.Relation[Parts]) -> sd.Relation[Labelled]:
    return (
        of.join(by, lambda t, p: t.part == p.part)
        .select(0, "total", "label")
        .into(lambda r: Labelled(part=r.part, total=r.total, label=r.label))
    )


labelled(total(items), parts).filter(lambda r: (r.label == "x") & (r.total > 3))
labelled(total(items.filter(lambda i: i.part > 3)), parts.limit(5)).select("label", "total").sort("total")


def first(rows: sd.Relation, count: int = 10) -> sd.Relation:
    """A bare relation is one of any columns."""
    return rows.fetch(count)


def with_number(rows: sd.Relation[Any], name: str) -> sd.Relation:
    return rows.with_columns(**{name: f.row_number().over()})


first(orders).filter(lambda o: o.id > 3).select("id")
first(items.select("part"), 3).filter(lambda i: i.part > 3)
first(total(items)).as_(Total).filter(lambda t: t.total > 3)
with_number(first(items), "n").filter(lambda r: r.n > 3).select("n", "part")


def filtered(rows: sd.Relation[S]) -> sd.Relation[S]:
    """Generic in the columns."""
    return rows.filter(sd.col("part") > 3).sort("part").limit(5)


def logged(rows: R) -> R:
    print(rows.columns)
    return rows


filtered(items).filter(lambda i: i.quantity > 3).select("quantity")
filtered(items.select("part", "order")).filter(lambda i: i.order > 3).select("order")
logged(items).select("quantity")
logged(items.select("part")).select("part")
logged(filtered(parts)).filter(lambda p: p.label == "x")


def doubled(x: sd.Expr[sd.I64, N]) -> sd.Expr[sd.I64, N]:
    return x * 2


def is_big(x: sd.Expr[sd.I64, sd.Null]) -> sd.Expr[sd.Boolean, sd.Null]:
    return x > 100


def is_late(o: Orders) -> sd.Expr[sd.Boolean]:
    return o.open & (o.id > 3)


def twice(x: sd.DynExpr) -> sd.DynExpr:
    return x * 2


items.filter(lambda i: is_big(i.part)).select(x=lambda i: doubled(i.part)).filter(lambda r: is_big(r.x))
items.select("part").filter(lambda i: is_big(doubled(i.part)))
orders.filter(is_late).select("id").with_columns(y=lambda o: twice(o.id)).filter(lambda r: r.y > 3)
orders.filter(lambda o: is_late(o) & (o.rank > 3))
items.with_columns(x=lambda i: twice(sd.col("part"))).select("x")
threshold = 5
items.filter(lambda i: i.part > threshold).filter(lambda i, limit=threshold: i.part > limit)
items.filter(lambda i: i.part.is_in(list(range(threshold))))

# Names that are bound again: declare the variable as a relation of any columns.
rel: sd.Relation = orders
rel = rel.filter(lambda o: o.open)
rel = rel.select("id", "price")
rel = rel.filter(lambda o: o.price > 3)
for number in range(3):
    rel = rel.filter(sd.col("id") != number)
    if number > 1:
        rel = rel.with_columns(more=lambda o: o.id + 1)
rel = rel.select("id").rename(id="key")
rel.select("key").filter(lambda r: r.key > 3)
if threshold > 3:
    rel = rel.limit(3)
    rel = rel.limit(2)
else:
    rel = items.select(key=lambda i: i.part)
while threshold < 3:
    rel = rel.union_all(rel)
rel.filter(lambda r: r.key > 3)

kept = items
for number in range(3):
    kept = kept.filter(lambda i, at_least=number: i.part > at_least).sort("part").distinct()
kept.select("quantity")

one_or_other = items if threshold > 3 else items.filter(lambda i: i.part > 3)
one_or_other.select("quantity").filter(lambda i: i.quantity > 3)
columns_differ = items.select("part", "quantity") if threshold > 3 else items.select("part")
columns_differ.select("part").filter(lambda r: r.part > 3)
schemas_differ = items if threshold > 3 else items.select("part", "order")
schemas_differ.select("part").filter(lambda r: r.part > 3)
others_differ = items if threshold > 3 else parts
others_differ.select("part").filter(lambda r: r.part > 3)
others_differ.filter(lambda r: r.part > 3)


def either(flag: bool) -> sd.Relation[Items] | sd.Relation[Parts]:
    return items if flag else parts


def perhaps(flag: bool) -> sd.Relation[Items] | None:
    return items.filter(lambda i: i.part > 3) if flag else None


either(True).select("part").sort("part")
either(False).filter(lambda r: r.part > 3).select("part")
found = perhaps(True)
if found is not None:
    found.select("quantity").filter(lambda i: i.quantity > 3)
(items if found is None else found).select("part")

every: list[sd.Relation] = [items, parts, items.select("part"), orders.limit(3)]
named: dict[str, sd.Relation] = {"items": items, "counts": items.group_by("part").agg(n=f.count())}
named["counts"].filter(lambda r: r.n > 3).select("part")
[each.limit(3).columns for each in every]
{name: each.select(0) for name, each in named.items()}
same = [items.filter(lambda i: i.part > 3), items.filter(lambda i: i.part < 3)]
same[0].union_all(*same[1:]).filter(lambda i: i.quantity > 3)
functools.reduce(lambda one, other: one.union_all(other), same).select("quantity")
functools.reduce(sd.Relation.union_all, same).select("part")
steps: list[Callable[[sd.Relation], sd.Relation]] = [first, lambda each: each.sort("part")]
for step in steps:
    step(items).select("part")


@dataclasses.dataclass
class Pipeline:
    """Relations as attributes."""

    source: sd.Relation[Items]
    result: sd.Relation | None = None
    steps: list[sd.Relation] = dataclasses.field(default_factory=list)

    def run(self) -> sd.Relation:
        big = self.source.filter(lambda i: i.quantity > 3, self.source.c.part > 3) if self.steps else self.source
        self.result = big.group_by("part").agg(total=lambda i: f.sum(i.quantity))
        self.steps.append(self.result)
        return self.result.filter(lambda r: r.total > 3)

    @property
    def parts(self) -> sd.Relation[Total]:
        return total(self.source)

    @functools.cached_property
    def counts(self) -> sd.Relation:
        return self.parts.join(self.source, lambda t, i: t.part == i.part).select("total", "quantity")

    @classmethod
    def of(cls, name: str) -> Pipeline:
        return cls(sd.read_named(name, Items))

    def __iter__(self) -> Iterator[sd.Relation]:
        yield self.source
        yield from self.steps


pipeline = Pipeline.of("items")
pipeline.run().select("total")
pipeline.parts.filter(lambda t: t.total > 3).select("part")
pipeline.counts.select("total").filter(lambda r: r.total > 3)
pipeline.source.filter(pipeline.source.c.part > 3).select("quantity")


class Source(Protocol):
    def rows(self) -> sd.Relation: ...


class Table:
    schema: type[Items] = Items

    def rows(self) -> sd.Relation[Items]:
        return sd.read_named("items", self.schema).filter(lambda i: i.part > 3)


def rows_of(source: Source) -> sd.Relation:
    return source.rows().limit(3)


rows_of(Table()).select("part")


def timed(function: Callable[[], R]) -> Callable[[], R]:
    @functools.wraps(function)
    def called() -> R:
        return function()

    return called


@timed
def report() -> sd.Relation[Total]:
    return total(items).sort("total")


report().filter(lambda t: t.total > 3).select("total")


async def fetched(name: str) -> sd.Relation[Items]:
    return sd.read_named(name, Items).filter(lambda i: i.part > 3)


async def joined() -> sd.Relation:
    one, other = await fetched("a"), await fetched("b")
    return one.join(other, lambda a, b: a.part == b.part).select(0, 4)


def all_of(waiting: Iterable[Awaitable[sd.Relation[Items]]]) -> Iterator[Awaitable[sd.Relation[Items]]]:
    yield from waiting


def read(schema: type[S], name: str) -> sd.Relation[S]:
    return sd.read_named(name, schema)


read(Items, "items").filter(lambda i: i.quantity > 3).select("part")


def key_of(name: str) -> sd.DynExpr:
    return sd.col(name)


def anything(rows: Any) -> Any:
    return rows.filter(lambda r: r.x > 3)


items.select(key_of("part")).sort("part")
items.group_by(key_of("part")).agg(n=f.count())


def with_anything(relation: Any, column: Any) -> None:
    """What has any type is checked when the program runs."""
    anything(items).select("x", "y").filter(lambda r: r.whatever)
    items.join(relation, "part").filter(lambda r: r.label == "x").select("whatever")
    items.join(relation.filter(column), lambda i, r: i.part == r.part).select("label")
    items.filter(column).select("part", x=column).select("part").filter(lambda r: r.part > column)
    items.union_all(relation).select("part")
    items.group_by("part", column).agg(n=column).select("part", "n", "whatever")
    items.write("t", schema=column)
    relation.c.part.cast(column)
