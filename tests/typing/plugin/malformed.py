# ruff: noqa  (nothing here is meant to be right)
"""Programs that nobody means to leave as they are: mypy may say what it likes of them, but no hook may fail.

Nothing here is run.
"""

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypedDict, TypeVar

import substrait_dsl as sd
from substrait_dsl import L
from substrait_dsl import functions as f
from tests.typing.plugin.nowhere import Lost, lost  # there is no such module

# --- schema classes


class Whole(sd.Schema):
    a: sd.I64
    b: sd.Nullable[sd.String]
    p: sd.Decimal[L[15], L[2]]


class Empty(sd.Schema): ...


class Ints(sd.Schema):
    a: int
    b: str | None
    c: Any
    d: "sd.I64"
    e: "Unheard"


class Half(sd.Schema):
    a: sd
    b: sd.nope
    c: sd.Nullable
    d: sd.Nullable[int]
    e: sd.Decimal
    f: sd.Decimal[15, 2]
    g: sd.Decimal[L[99], L[2]]
    h: sd.Decimal[L[2], L[15]]
    i: sd.List
    j: sd.Map[sd.String]
    k: sd.Struct
    l: sd.Struct[int]
    m: sd.Struct[Whole, Whole]
    n: sd.Nullable[sd.Nullable[sd.I64]]
    o: sd.FixedChar[L["x"]]
    p: sd.I64[sd.I64]
    q: None
    r: Literal[5]


class Circular(sd.Schema):
    a: sd.I64
    inner: sd.Struct["Circular"]


class Ping(sd.Schema):
    pong: sd.Struct["Pong"]


class Pong(sd.Schema):
    ping: sd.List[sd.Struct[Ping]]


class Itself(Itself): ...


class Diamond(Whole, Circular): ...


class Over(Whole):
    a: sd.String
    b = 5
    p: ClassVar[sd.I64]


K = TypeVar("K", bound=sd.I64 | sd.String)


class Keyed(sd.Schema, Generic[K]):
    key: K
    more: sd.Nullable[K]


class Sub(Keyed[sd.I64]):
    x: sd.I64


class Odd(sd.Schema):
    x: sd.I64 = 5
    (y): sd.I64
    sd.z: sd.I64
    __hidden: sd.I64
    w, v = 1, 2
    if random.random() > 0.5:
        u: sd.I64
    else:
        u: sd.String

    def method(self) -> sd.I64: ...

    class Nested(sd.Schema):
        n: sd.I64

    @property
    def prop(self) -> sd.I64: ...


@dataclass
class Data(sd.Schema):
    a: sd.I64


class Mixed(sd.Schema, TypedDict):
    a: sd.I64


class Pair(NamedTuple):
    a: sd.I64
    b: sd.Relation[Whole]


class Dictionary(TypedDict):
    a: sd.I64


class Named(NamedTuple, sd.Schema):
    a: sd.I64


class Shape(sd.Schema, Protocol):
    a: sd.I64


class FromLost(Lost):
    a: sd.I64


class FromBoth(Lost, sd.Schema):
    a: sd.I64


class Meta(sd.Schema, metaclass=type): ...


class Unpacked(*(sd.Schema,)):
    a: sd.I64


class Row(sd.DynRow):
    a: sd.I64


Made = type("Made", (sd.Schema,), {"__annotations__": {"a": sd.I64}})
Alias = Whole
Rel = sd.Relation

# --- reads

whole = sd.read_named("t", Whole)
sd.read_named()
sd.read_named("t")
sd.read_named(Whole, "t")
sd.read_named("t", Whole, Whole, Whole)
sd.read_named("t", 5)
sd.read_named("t", None)
sd.read_named("t", Any)
sd.read_named("t", lost)
sd.read_named("t", Lost)
sd.read_named("t", Unheard)
sd.read_named("t", {})
sd.read_named("t", {1: sd.I64})
sd.read_named("t", {"a": int, "b": "decimal<", "c": None, **{"d": sd.I64}})
sd.read_named("t", {"a": sd.I64, "a": sd.I64})
sd.read_named("t", {**lost})
sd.read_named("t", dict(a=sd.I64))
sd.read_named("t", dict([("a", sd.I64)]))
sd.read_named(*lost)
sd.read_named(**lost)
sd.read_named(*("t", Whole), **{"x": 5})
sd.read_named("t", Whole())
sd.read_named("t", sd.Schema)
sd.read_named("t", sd.DynRow)
sd.read_virtual([(1,), (1, 2), None, "x"], Whole)
sd.read_virtual(None, None)
sd.read_files(None, Whole, kind=5)

sd.read_named("t", Empty).select("a").filter(lambda r: r.a > 5)
sd.read_named("t", Ints).filter(sd.col("a") > 5).select("a")
sd.read_named("t", Half).union_all(whole).c.a
sd.read_named("t", Circular).join(whole, lambda l, r: l.a == r.a).select(0)
sd.read_named("t", Ping).group_by("a").agg(n=f.count())
sd.read_named("t", Itself).as_(Whole).into(lambda r: Whole(a=r.a))
sd.read_named("t", Diamond).select("a").filter(lambda r: r.a > 5)
sd.read_named("t", Over).filter(sd.col("a") > 5).select("a")
sd.read_named("t", Keyed).union_all(whole).c.a
sd.read_named("t", Keyed[sd.I64]).join(whole, lambda l, r: l.a == r.a).select(0)
sd.read_named("t", Sub).group_by("a").agg(n=f.count())
sd.read_named("t", Odd).as_(Whole).into(lambda r: Whole(a=r.a))
sd.read_named("t", Odd.Nested).select("a").filter(lambda r: r.a > 5)
sd.read_named("t", Data).filter(sd.col("a") > 5).select("a")
sd.read_named("t", Mixed).union_all(whole).c.a
sd.read_named("t", Pair).join(whole, lambda l, r: l.a == r.a).select(0)
sd.read_named("t", Dictionary).group_by("a").agg(n=f.count())
sd.read_named("t", Named).as_(Whole).into(lambda r: Whole(a=r.a))
sd.read_named("t", Shape).select("a").filter(lambda r: r.a > 5)
sd.read_named("t", FromLost).filter(sd.col("a") > 5).select("a")
sd.read_named("t", FromBoth).union_all(whole).c.a
sd.read_named("t", Meta).join(whole, lambda l, r: l.a == r.a).select(0)
sd.read_named("t", Unpacked).group_by("a").agg(n=f.count())
sd.read_named("t", Row).as_(Whole).into(lambda r: Whole(a=r.a))
sd.read_named("t", Made).select("a").filter(lambda r: r.a > 5)
sd.read_named("t", type(Whole)).filter(sd.col("a") > 5).select("a")
sd.read_named("t", type[Whole]).union_all(whole).c.a
sd.read_named("t", Whole | Empty).join(whole, lambda l, r: l.a == r.a).select(0)
sd.read_named("t", Whole if lost else Empty).group_by("a").agg(n=f.count())

sd.read_named("t", Half).select("a", "c", "k").filter(lambda r: r.g + r.h > r.q)
sd.read_named("t", Circular).filter(lambda r: r.inner["inner"]["a"] > 5).select("inner")
sd.read_named("t", Pong).filter(sd.col("ping")[0]["pong"].is_null())
sd.read_named("t", Keyed[sd.I64]).filter(lambda r: r.key > r.more).select("key")
sd.read_named("t", Sub).filter(lambda r: r.key > 5).select("key", "x", "more")

# --- verbs

whole.filter()
whole.filter(None)
whole.filter(5, "x", whole, Whole, sd, f, lost)
whole.filter(*lost, **lost)
whole.filter(*[sd.col("a") > 1, lambda r: r.a > 5])
whole.filter(lambda: True)
whole.filter(lambda a, b: a.a > b.a)
whole.filter(lambda *r: r[0].a > 5)
whole.filter(lambda **r: True)
whole.filter(lambda r=5: r.a > 5)
whole.filter(lambda r: (yield r))
whole.filter(lambda r: lambda q: r.a > q.a)
whole.filter(lambda r: whole.filter(lambda q: q.a > r.nope))
whole.filter(lambda r: [x for x in r])
whole.filter(lambda r: (x := r.a) > x)
whole.filter(lambda r: r.a if r.b else r.c)
whole.filter(lambda r: r.a < r.a < r.nope)
whole.filter(lambda r: not r.a and r.b or r.c)
whole.filter(lambda r: r[lost])
whole.filter(lambda r: r["a":"b"])
whole.filter(lambda r: r.a[r.a][r.b])
whole.filter(lambda r: r())
whole.filter(lambda r: r.a())
whole.filter(lambda r: r.__class__)
whole.filter(lambda r: await r)
whole.filter(whole.filter)
whole.filter(whole.filter(whole))
whole.filter(sd.col)
whole.filter(sd.col())
whole.filter(sd.col(5), sd.col(None), sd.col("a", "b"), sd.col(*lost), sd.col(name="a"))
whole.filter(sd.col("a").nope().more > 5)
whole.filter(sd.col("a") @ sd.col("b"), sd.col("a") ** 2, sd.col("a") // 0, sd.col("a") << 1, +sd.col("a"))
whole.filter(sd.col("a") is None, sd.col("a") in (1, 2), 5 not in sd.col("a"))
whole.filter(f"{sd.col('a')}", b"\xff", 1j, ..., NotImplemented)
whole.filter(**"a")
whole.filter(*5, **None)
whole.filter(sd.col("a") > dt.date(2000, 13, 1), sd.col("a") > -dt.date.today().nope(), *whole)
whole.limit(5 % 0).limit(1 / 0).limit(3 - "x").limit([1, 2][5]).limit({"a": 1}["b"])
whole.nope(5).select("a")
whole.select
whole.select()
whole.select(1, -1, 99, None, "", "nope", lost, lambda r: r.a, lambda: 5, sd.col("a").alias(5))
whole.select("a", "a", a=sd.col("a"), **{"b": sd.col("b")})
whole.select(*"ab")
whole.select(**Dictionary(a=sd.I64()))
whole.project(5)
whole.project(a=None, b=[], c={}, d=set(), e=(), f=whole, g=Whole, h=lambda: 5, i=lambda r: None)
whole.project(x=lambda r: r.a + "text", y=lambda r: r.b * r.b, z=1 + sd.col("nope"))
whole.project(**{"x": 5}, **lost)
whole.with_columns(a=whole["nope"], b=whole[None], c=whole[:], d=whole[0, 1], e=whole[lost])
whole.rename(5)
whole.rename({"a": 5, 7: "b", None: None, **lost}, a="b", b="a")
whole.rename({"a"})
whole.drop(whole, None, 1.5, *"abp")
whole.emit(5)
whole.emit([0, "x", None, 99])
whole.emit(range(10**12))
whole.sort()
whole.sort(5, None, sd.asc(), sd.desc(None), sd.asc("a", nulls="nope"), sd.desc(sd.asc("a")), lambda r: None)
whole.fetch(-1, "x").limit(None).limit(10**40).fetch(lost, offset=lost, nope=5)
whole.top_n().top_n("x", 5)
whole.join()
whole.join(5, 5)
whole.join(whole)
whole.join(None, None, None, None)
whole.join(whole, lambda r: r.a == 1)
whole.join(whole, lambda l, r, m: True, how="nope")
whole.join(whole, lambda l, r: l.a == r.nope, how=lost, mark=5)
whole.join(whole, on=whole["a"] == whole["a"], how=random.choice(["inner", "left"]))
whole.join(sd.Relation, True)
whole.cross().cross(whole, whole).cross(None)
whole.cross(whole).select("a").filter(lambda r: r.a)
whole.lateral_join(lambda r: 5).lateral_join(whole).lateral_join(lambda: whole, on=5)
whole.hash_join(whole, [("a",), 5, ("a", "nope"), ("a", "a", "a")]).merge_join(whole, [])
whole.union_all()
whole.union_all(5, None, whole, Whole, lost, *lost)
whole.set_op("nope", whole).set_op(whole).set_op()
whole.set_op(random.choice(["union_all", "union_distinct"]), whole)
whole.group_by().agg()
whole.group_by(5, None, "nope", lambda r: 5, nope=lambda: 5).agg(5, a=5)
whole.group_by("a").agg(f.sum)
whole.group_by("a").agg(a=f.sum(sd.col("b")), b=f.count, c=lambda r: f.sum(), d=lambda: f.count())
whole.group_by("a").rollup(n=f.count()).cube(n=f.count())
whole.group_by("a")("b")
whole.aggregate("a", grouping_sets=5)
whole.aggregate("a", "b", grouping_sets=[["nope"], 5, None, [0, 99], *lost], method="nope", n=5)
whole.aggregate(grouping_sets=[[]], n=f.count().filter(5).distinct(5).over(5))
whole.into(5).into(Whole).into(lambda r: 5)
whole.into(lambda r: Whole())
whole.into(lambda r: Whole(a=5, b=r.nope, c=7))
whole.into(lambda r: Whole(5, 6, 7))
whole.into(lambda r: Whole(**lost))
whole.into(lambda r: Half(a=r.a))
whole.as_()
whole.as_(5).as_(Half).as_(Circular).as_(Any).as_(Whole, Whole).as_(Lost).as_(None)
whole.write(5).write(Whole).write()
whole.window(5).window(order_by=5, x=5).expand(5).expand(x=sd.switching()).exchange(5).exchange(None)
whole.hint(lost).hint("x").with_extension(5)
sd.Relation.filter(whole, True)
sd.Relation.filter()
sd.Relation[Whole].select(whole, "a")
sd.Relation(5).select("a")
sd.Relation().select("a")
Rel.select(whole, "a")
getattr(whole, "select")("a")
(whole.select if lost else whole.drop)("a")
[whole.select, whole.drop][0]("a")
(lambda r: r.select("a"))(whole)
super(sd.Relation, whole).select("a")
del whole.c.a
whole.c.a = 5
whole.c.nope += 1
whole["a"] = 5
whole.c().a

# --- expressions and functions

sd.lit().cast(sd.I64)
sd.lit(object(), Whole).cast().cast(5).cast(None).cast("nope<").cast(sd.Nullable[int]).cast(*lost)
sd.lit(1, sd.Decimal(99, 2)) + sd.lit("x", sd.Decimal(15, "x"))
sd.null().is_null(5).between().is_in().is_in(5, 6)
sd.null(5) + sd.null(lost) + sd.null(Whole)
sd.when().then().when(5).otherwise()
sd.when(5).then(6).then(7).otherwise(None).otherwise(8)
sd.switch()
sd.switch(sd.col("a"), {}, 5, 6)
sd.switch(sd.col("a"), {lost: lost, None: None, **lost})
sd.exists().is_null()
sd.exists(5, whole)
sd.scalar_subquery(whole).nope
sd.struct_of(5, a=lost).keep(5).keep({"a": 5})["nope"][lost]
sd.list_of()[None]
sd.map_of(5)["x"]
sd.parameter("x", 5)
sd.reveal_schema()
sd.reveal_schema(5)
sd.reveal_schema(whole, whole)
sd.reveal_schema(lost)
sd.reveal_schema(sd.Relation)
sd.reveal_schema(*lost)
sd.reveal_schema(relation=whole)
f.nope(5)
f.add()
f.add(1)
f.add(None, lost, 5, 6, 7)
f.add(*lost, **lost)
f.add(x=5, y=6)
f.add(whole.c.a, whole.c.b, overflow=5)
f.sum(whole, Whole, lambda r: r.a)
f.sum(f.sum(f.sum(whole.c.a)))
f.sum(whole.c.a).over(5, partition_by=5, order_by=lost, rows=5)
f.row_number().filter(5)
f.row_number(5).over(rows=(5, "x"), range=(1, 2))
f.transform(5, 5)
f.transform(sd.list_of(1), lambda: 5)
f.transform(sd.list_of(1), lambda x, y, z: x)
f.extract("nope", dt.date.today()).extract
whole.c.a + whole + Whole + lost + None + ... + whole.c.nope
5 + whole.c.b + "x" - dt.date.today() * Whole.a / Whole.nope % Half.g
-whole.c.b
~whole.c.a & 5 | None ^ whole.c.p
whole.c.a == whole == Whole == None
whole.c.a.alias()
whole.c.a.alias(lost).alias(5)
assert whole.c.a
if whole.c.a > 5 and whole.c.p:
    whole.filter(True)
while whole:
    break
for column in whole:
    column.nope
for row in whole.c:
    row.nope
a, *b = whole.c
match whole.c.a:
    case sd.Expr():
        pass
    case 5:
        pass

# --- before they are there

first = second.select("a")
second = first.filter(lambda r: r.a > 5)
third = third.join(third, lambda l, r: l.a == r.a)
whole: int = whole.select("a")

sd.Relation.select(-1, "x")
