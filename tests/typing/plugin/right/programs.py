"""What else a program may do with relations: generics, protocols, patterns, decorators, partial functions."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
from abc import ABC, abstractmethod
from collections import ChainMap, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    Self,
    cast,
    overload,
)

from typing_extensions import ParamSpec, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin import tables
from tests.typing.plugin.tables import Items, Orders, Parts, customers, items, orders, parts

if TYPE_CHECKING:
    from typing import TypeAlias

ItemRows: TypeAlias = "sd.Relation[Items]"
Clean = NewType("Clean", sd.Relation)
Money = sd.Decimal[Literal[15], Literal[2]]
KEY: Final = "part"
COLUMNS: Final = ("order", "part")
S = TypeVar("S", bound=sd.Schema)
S2 = TypeVar("S2", bound=sd.Schema, default=Items)
T = TypeVar("T", bound=sd.Type)
P = ParamSpec("P")
R = TypeVar("R")


class Keyed(sd.Schema):
    part: sd.I64


class Priced(Keyed):
    price: Money
    note: sd.Nullable[sd.String]
    limit: ClassVar[int] = 10

    @classmethod
    def table(cls) -> sd.Relation[Self]:
        return sd.read_named(cls.__name__, cls)


class Full(Priced, Parts):
    extra: Annotated[sd.I64, "what it costs"]


class Column(Enum):
    PART = "part"
    ORDER = "order"


class Pair(NamedTuple):
    left: sd.Relation[Items]
    right: sd.Relation[Parts]


Priced.table().filter(lambda p: (p.price > 3) & p.note.is_null()).select("part", "price")
sd.read_named("full", Full).filter(lambda p: (p.extra > 3) & (p.label == "x")).select("part", "label", "price", "extra")
tables.items.filter(lambda i: i.part > 3).select(tables.Items.part)
items.select(KEY).filter(sd.col(KEY) > 3).filter(lambda r: r.part > 3)
items.select(*COLUMNS).sort(*COLUMNS).filter(lambda r: r.order > 3)
items.select(Column.PART.value, Column.ORDER.value)
items.select("part" if len(COLUMNS) > 1 else "order", x=sd.lit(1) if COLUMNS else sd.lit(2)).select("x")
items.select(*(name for name in COLUMNS if name != KEY)).limit(3)
items.select(**{f"{name}_sum": sd.col(name) for name in COLUMNS})
items.rename(**{name: name.upper() for name in COLUMNS}).rename({"PART": "part"})

pair = Pair(items, parts)
pair.left.join(pair.right, lambda i, p: i.part == p.part).select("label")
left, right = pair
left.join(right, "part").select("order", "label")
(one, two), *rest = (items, parts), items, customers
one.join(two, "part").select("label")
cast("sd.Relation[Items]", rest[0]).filter(lambda i: i.part > 3).select("quantity")
Clean(items.filter(lambda i: i.part > 3)).select("part")
if (big := items.filter(lambda i: i.quantity > 3)) is not None:
    big.select("quantity").filter(lambda r: r.quantity > 5)
swapped, items_again = parts, items
swapped, items_again = swapped.filter(lambda p: p.label == "x"), items_again.filter(lambda i: i.part > 3)
swapped.select("label").cross(items_again.select("order"))


def of_kind(relation: sd.Relation | sd.Expr[Any, Any] | str) -> sd.Relation | None:
    match relation:
        case sd.Relation():
            return relation.limit(3)
        case str(name):
            return sd.read_named(name, Items).limit(3)
        case _:
            return None


def narrowed(relation: sd.Relation[Items] | sd.Relation[Parts] | None) -> sd.Relation:
    if relation is None:
        relation = items.limit(1)
    elif not isinstance(relation, sd.Relation):
        raise TypeError
    return relation.filter(lambda r: r.part > 3)


of_kind(items)
narrowed(parts).select("part")


@overload
def load(name: Literal["items"]) -> sd.Relation[Items]: ...
@overload
def load(name: Literal["parts"]) -> sd.Relation[Parts]: ...
def load(name: str) -> sd.Relation[Any]:
    return items if name == "items" else parts


load("items").join(load("parts"), lambda i, p: i.part == p.part).select("label", "quantity")


class Store(ABC, Generic[S]):
    """Generic in the columns of its relation."""

    rows: sd.Relation[S]
    _cache: sd.Relation | None = None

    def __init__(self, rows: sd.Relation[S]) -> None:
        self.rows = rows
        self.by_name: dict[str, sd.Relation[S]] = {}

    @property
    @abstractmethod
    def key(self) -> sd.Expr[sd.I64, sd.Null]: ...

    def matching(self, key: int) -> sd.Relation[S]:
        return self.by_name.setdefault(str(key), self.rows.filter(self.key == key))

    def counts(self) -> sd.Relation:
        if self._cache is None:
            self._cache = self.rows.aggregate(sd.col(0), n=f.count())
        return self._cache.filter(sd.col("n") > 1)

    def mapped(self, function: Callable[[S], sd.Expr[sd.Boolean, sd.Null]]) -> Self:
        return type(self)(self.rows.filter(function))

    def into(self, schema: type[S2], row: Callable[[S], S2]) -> sd.Relation[S2]:
        return self.rows.into(row).as_(schema)


class ItemStore(Store[Items]):
    @property
    def key(self) -> sd.Expr[sd.I64, sd.Null]:
        return self.rows.c.part

    def dear(self) -> sd.Relation[Items]:
        return self.rows.filter(lambda i: i.quantity > 3).filter(lambda i: i.part > 3).sort("part")


store = ItemStore(items)
store.matching(3).filter(lambda i: i.quantity > 3).select("quantity")
store.mapped(lambda i: i.part > 3).dear().select("order")
store.counts().select("n")
store.into(Keyed, lambda i: Keyed(part=i.part)).select("part")


def traced(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    return called


@traced
def above(rows: sd.Relation[Items], least: int, *, key: str = "part") -> sd.Relation[Items]:
    return rows.filter(sd.col(key) > least)


@functools.lru_cache
def cached(name: str) -> sd.Relation[Items]:
    return sd.read_named(name, Items)


@functools.singledispatch
def described(value: Any) -> str:
    return str(value)


@contextlib.contextmanager
def session() -> Generator[sd.Relation[Orders], None, None]:
    yield orders.filter(lambda o: o.open)


above(items, 3, key="order").select("quantity")
functools.partial(above, items)(3).filter(lambda i: i.part > 3)
cached("items").filter(lambda i: i.quantity > 3).select("quantity")
with session() as opened:
    opened.filter(lambda o: o.id > 3).select("id", "price")
try:
    found = items.select(KEY)
except sd.SubstraitDslError as error:
    described(error)
else:
    found.filter(lambda r: r.part > 3)


def nested(rows: sd.Relation[Items], depth: int) -> sd.Relation[Items]:
    return rows if depth == 0 else nested(rows.filter(sd.col("part") != depth), depth - 1).sort("part")


def pipeline(start: sd.Relation, *steps: Callable[[sd.Relation], sd.Relation]) -> sd.Relation:
    return functools.reduce(lambda rows, step: step(rows), steps, start)


def conditions(row: Items, limits: Mapping[str, int]) -> list[sd.Expr[sd.Boolean, Any]]:
    return [row[name] > limit for name, limit in limits.items()]


def everything(of: Iterable[sd.Expr[sd.Boolean, sd.Null]]) -> sd.Expr[sd.Boolean, sd.Null]:
    return functools.reduce(operator.and_, of)


def maximum(x: sd.Expr[T, Any]) -> sd.Measure[Any, Any]:
    return f.max(x)


nested(items, 3).filter(lambda i: i.quantity > 3).select("quantity")
pipeline(items, lambda rows: rows.filter(lambda r: r.part > 3), lambda rows: rows.select("part")).sort("part")
items.filter(*conditions(items.c, {"part": 3})).select("part")
items.filter(lambda i: everything([i.part > 3, i.quantity > 3])).select("part")
items.filter(lambda i: functools.reduce(operator.or_, [i.part == number for number in range(3)])).select("part")
items.filter(*map(lambda name: sd.col(name) > 3, COLUMNS)).select("part")  # noqa: C417
items.group_by("part").agg(**{f"max_{name}": f.max(sd.col(name)) for name in COLUMNS}).limit(3)
items.group_by("part").agg(most=lambda i: maximum(i.quantity), least=lambda i: f.min(i.order)).select("least")
items.aggregate(*COLUMNS, n=f.count(), grouping_sets=[(), *itertools.combinations(COLUMNS, 1), COLUMNS]).limit(3)
items.with_columns(**dict.fromkeys(("a", "b"), 1)).limit(3)
items.sort(*[sd.desc(name) if name == KEY else name for name in COLUMNS]).select("quantity")
measures: dict[str, sd.Measure[Any, Any]] = {"n": f.count(), "most": f.max(sd.col("quantity"))}
items.group_by("part").agg(**measures).limit(3)
chosen: Sequence[str] = [*COLUMNS]
items.select(*chosen).limit(3)
by_key: defaultdict[str, list[sd.Relation]] = defaultdict(list)
by_key["a"].append(items.select("part"))
by_key["a"].extend(items.filter(sd.col("part") == number) for number in range(3))
ChainMap(by_key)["a"][0].limit(3)
for name, relation in {"items": items, "more": items.limit(3)}.items():
    relation.filter(lambda i: i.quantity > 3).write(name)
for relations in zip([items, items.limit(3)], [parts, parts.limit(3)], strict=True):
    relations[0].join(relations[1], "part").select("label")
key: sd.Expr[sd.I64] = items.c.part
items.filter(key > 3).select("part")
anything: sd.DynExpr = sd.col("part")
items.filter(anything > 3).select(anything, x=anything + 1).filter(lambda r: r.x > 3)
row = items.c
items.filter(row.part > 3, row.quantity > 3).select("part")
condition: sd.Expr[sd.Boolean, sd.Null] | None = None
filtered = items if condition is None else items.filter(condition)
filtered.select("quantity")
how: Literal["left", "inner"] = "left"
items.join(parts, "part", how=how).select("label")
sort_keys = [sd.desc("quantity"), sd.asc("part")]
items.sort(*sort_keys).top_n(3, *sort_keys).select("part")
window = f.row_number()
items.with_columns(n=window.over(order_by="part"), m=window.over(partition_by="order")).filter(lambda r: r.n > r.m)
struct = sd.struct_of(a=sd.col("part"))
items.select(s=struct).select(a=lambda r: r.s["a"]).filter(lambda r: r.a > 3)
sd.reveal_schema(items.select(s=struct).select(a=lambda r: r.s["a"]))
# N: Schema is a: i64
sd.reveal_schema(Priced.table())
# N: Schema is part: i64, price: decimal<15,2>, note: string?
sd.reveal_schema(sd.read_named("full", Full))
# N: Schema is part: i64, label: string, price: decimal<15,2>, note: string?, extra: i64


class Named(sd.Schema):
    """A schema class with a constant, which is no column."""

    TABLE: ClassVar[str] = "named"
    key: sd.I64


sd.reveal_schema(sd.read_named(Named.TABLE, Named))
# N: Schema is key: i64
sd.reveal_schema(items.with_columns(**{"a b": sd.lit(1), "c-d": sd.lit("x")}).select("a b", "c-d"))
# N: Schema is a b: i64, c-d: string
