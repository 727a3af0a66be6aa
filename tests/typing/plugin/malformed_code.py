# ruff: noqa  (nothing here is meant to be right)
"""Functions, classes and statements that nobody means to leave as they are: a continuation of ``malformed``."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Concatenate, Final, Generic, Literal, ParamSpec, Self, TypeVar, overload

import substrait_dsl as sd
from malformed import Empty, Half, Ints, Whole, whole
from substrait_dsl import functions as f

# --- partially typed code


def untyped(relation, other=None, *args, **kwargs):
    one = relation.filter(sd.col("a") > 5)
    two = whole.join(other, lambda l, r: l.a == r.b).select("a", *args, **kwargs)
    return one.select(sd.col("x"), two)


def unions(
    either: sd.Relation[Whole] | sd.Relation[Empty],
    optional: sd.Relation[Whole] | None,
    anything: Any,
    what: object,
    bare: sd.Relation,
    some: sd.Relation[Any],
    half: "sd.Relation[Half, Whole]",
    row: Whole | Ints | None,
    nothing: sd.Relation[Unheard],
    schema: type[Whole] | type[Empty],
    schemas: list[type[sd.Schema]],
    expression: sd.Expr[sd.I64, sd.Null] | sd.Expr[sd.String, sd.Req] | int,
    make: Callable[..., sd.Relation[Whole]],
    rows: Callable[[Whole], Any],
) -> None:
    for relation in (either, optional, anything, what, bare, some, half, nothing, make, make()):
        relation.filter(lambda r: r.a > 5).select("a").filter(sd.col("a") > expression)
        relation.union_all(either, optional, anything, what, bare, some, nothing)
        relation["a"] + relation.c.a
        whole.join(relation, lambda l, r: l.a == r.a).select("a")
        sd.reveal_schema(relation)
    row.a + row.b
    sd.read_named("t", schema).select("a")
    sd.read_named("t", schemas[0]).select("a")
    whole.filter(rows).project(x=rows, y=expression, z=anything, w=what).select("x", "y", "z", "w")
    whole.select(anything, what, row, expression)
    whole.group_by(anything).agg(n=what, m=anything, k=expression)
    whole.fetch(expression, anything).sort(anything, what, row)
    expression + anything + what + row
    -expression
    expression.cast(sd.I64).alias("x")


T = TypeVar("T", bound=sd.Schema)
W = TypeVar("W", Whole, Ints)
E = TypeVar("E", bound=sd.Expr[Any, Any])


def generic(one: sd.Relation[T], two: sd.Relation[W], row: W, rows: T, expr: E, schema: type[T]) -> sd.Relation[T]:
    two.filter(lambda r: r.a > 5).select("a").c.a
    one.filter(lambda r: r.nope).select("a").union_all(two)
    one.join(two, lambda l, r: l.a == r.a).into(lambda r: rows).as_(schema)
    row.a + expr + rows
    sd.read_named("t", schema).select("a")
    return one.select("a") or sd.read_named("t", schema)


class Holder(Generic[T]):
    relation: sd.Relation[T]
    other = whole.select("nope")
    unset: sd.Relation[Whole] = None

    def __init__(self, relation) -> None:
        self.relation = relation
        self.later = self.early.select("a")
        self.early = self.later.select("a")
        self.circular = whole.filter(lambda r: self.circular)

    def use(self):
        return self.relation.filter(sd.col("a") > 1).select(self.nope).select("a")

    @property
    def shown(self) -> sd.Relation[T]:
        return self.relation.union_all(self.other, self.early, self.unset)

    def __getattr__(self, name: str) -> sd.Relation[Whole]:
        return getattr(self.relation, name).select(name)


async def later(relation: sd.Relation[Whole]) -> None:
    (await relation).select("a")
    async for row in relation.select("a"):
        row.a
    with relation.filter(True) as r:
        r.select("a")
    [x async for x in relation.c.a]


def yields() -> Iterator[sd.Relation[Whole]]:
    got = yield whole.select("a")
    got.select("b")
    yield from whole.filter(got)


def recursive(n: int):
    return recursive(n - 1).select("a") if n else whole


def loop() -> None:
    relation = whole
    for _ in range(3):
        relation = relation.project(x=lambda r: r.a).rename(a="b")
    step = whole.select("a")
    while True:
        step = step.union_all(step.select("a", "b")).group_by("a").agg(n=f.count())


# --- decorators, overloads, parameter specifications

P = ParamSpec("P")


def logged(step: Callable[P, sd.Relation[T]]) -> Callable[P, sd.Relation[T]]:
    def inner(*args: P.args, **kwargs: P.kwargs) -> sd.Relation[T]:
        return step(*args, **kwargs).select("a").filter(*args, **kwargs)

    return inner


def partly(step: Callable[Concatenate[sd.Relation[T], P], sd.Relation[T]]) -> Callable[P, sd.Relation[Whole]]:
    return lambda *args, **kwargs: step(whole, *args, **kwargs).select(*args, **kwargs)


@logged
def stepped(relation: sd.Relation[Whole], name: str) -> sd.Relation[Whole]:
    return relation.select(name)


@whole.select("a")
def decorated() -> None: ...


@partly
@functools.cache
def twice(relation: sd.Relation[Whole], *names: str, **columns: sd.Expr[Any, Any]) -> sd.Relation[Whole]:
    return relation.select(*names, **columns).project(**columns, x=names)


stepped(whole, "a").select("nope").filter(lambda r: r.a > stepped)
twice("a", b=5).select("nope")
decorated.select("a")


@overload
def either(x: sd.Relation[Whole]) -> sd.Relation[Empty]: ...
@overload
def either(x: int) -> sd.Expr[sd.I64]: ...
def either(x):
    return x


either(whole).select("a")
either(whole.select("nope")).select("a")
either(whole.select("a", "b"))
either(either(3) + either(whole) + either)
whole.filter(either).filter(lambda r: either(r.a)).filter(lambda r: either(3) > r.a)
whole.map(either)
functools.partial(whole.select, "a")("nope")
functools.reduce(lambda r, n: r.select(n), ["a"], whole).select("a")
functools.reduce(sd.Relation.union_all, [whole, whole])
map(sd.Relation.select, [whole], ["a"])
sd.Relation.select(whole, "a").select("nope")
sd.Relation.filter(lambda r: r.a)
sd.Expr.__add__(whole.c.a, whole)
type(whole).select(whole)
super(sd.Relation, whole).select("a")
getattr(whole, "select")("a")

# --- one name after another

counter: Final = whole.c.a
counter = 5


def globally() -> None:
    global whole, anew
    whole = whole.select("a")
    anew = whole.select("nope")
    whole.filter(lambda r: r.b > 5)
    del whole
    whole.select("a")


def enclosing() -> None:
    rows = whole

    def inside() -> None:
        nonlocal rows
        rows = rows.select("a")
        rows.select(lambda r: rows.c.a + r.a)

    inside()
    rows.select("nope")


if (some := whole.select("a")) and (column := some.c.a) > (column := column + 1):
    some.select(column, other := column, (lambda: (yield))())
    some.filter(lambda r, *rest, key=some, **more: r.a > key.c.a)
    some.filter((lambda r: (s := r.a) > s) if some else (lambda: True))
    some.filter(lambda r=whole: r.a > 5).filter(lambda *r: r[0].a > 5).filter(lambda **r: r["a"]).filter(lambda: 5)
    some.join(whole, lambda l: l.a).join(whole, lambda l, r, s: l.a).join(lambda l, r: l.a == r.a, whole)
[column for row in whole for column in row.c if column > 5 or column]
{name: whole.select(name) for name, *rest in [("a", "b")] if rest}
{*whole.columns, *whole.select("nope").columns, *whole}
[inner := whole.select("nope") for _ in whole.columns]
(whole.select(name) for name in whole)
print(f"{whole.select('nope')!r:{whole.c.a}} {whole.c.nope=}")
assert whole.c.a, whole.c.nope
whole.c.a, whole["b"], *rest = whole.c.b, whole.c.a
whole.c.a += whole.c.b
whole.c.a: int = whole.c.nope
whole @ whole.c.a**whole.c.b // whole.c.a << whole.c.b
whole.c.a < whole.c.b <= whole.c.p != whole.c.a in whole.c.b is whole.c.a
not whole.c.a and ~whole.c.b or +whole.c.p
whole[1:2], whole[...], whole["a", "b"], whole[None], whole[:], whole[lambda r: r.a], whole[whole]
whole.select(*whole.columns, *("a", "b"), *["nope"], **{"x": whole.c.a}, **whole)
whole.select(*(name for name in whole.columns), *5, *whole, **{5: 5}, **{}, **None)
whole.project(**{"x": 5}, x=6, **dict(y=7), **dict([("z", 8)]))
whole.rename(**{"a": "b", "b": "a"}, a="c").rename({"a": "b"}, {"b": "a"}).rename(a=5, nope="x", b=None)
whole.agg(lambda r: f.sum(r.a), x=f.sum, y=f.sum(), z=f.count("a", "b", 5), w=whole.agg())
f.sum(f.sum(f.sum(whole.c.a))).over(f.sum(whole)).filter(f.count).over().over()
f.nope(whole), f.add(), f.add(*whole), f.add(**whole), f.add(x=5), f["add"], f.add.nope(5), f(whole)
sd.when(whole).then().otherwise(5).when(5).then(6, 7), sd.when(), sd.when(True).then(whole.c.a).otherwise("x")
sd.col(), sd.col("a", "b"), sd.col(5.5), sd.col(*["a"]), sd.col(None)(5), sd.col("a").b.c("d")["e"]
sd.lit(), sd.lit(whole), sd.lit(5, whole), sd.lit(*[5], **{"type": sd.I64}), sd.lit(sd.lit(5)), sd.lit(..., ...)

match whole, whole.c.a:
    case sd.Relation(c=row), sd.Expr() as column if column > row.a:
        row.nope + column
    case [first, *others] | (first, others):
        first.select("nope")
    case {"a": one, **others}:
        one.select(others)
    case _ if whole.select("nope"):
        whole.select("nope")

try:
    whole.select("a")
except* whole.select("nope") as error:
    error.select("a")
else:
    whole.select(error)
finally:
    del whole

with contextlib.suppress(whole.c.a), whole as (one, two), whole.select("nope") as whole.c.a:
    one.select(two)


class Chained(sd.Relation[Whole]):
    def select(self, *names: int, **columns: str) -> Self:
        return super().select("nope").filter(lambda r: self.c.a > r.a)

    def __add__(self, other: Any) -> "Chained":
        return self + other + self.c.a


Chained().select("a") + Chained(whole).filter(lambda r: r.nope)


class Column(sd.Expr[sd.I64, sd.Null]):
    def __add__(self, other: "Column") -> sd.Relation[Whole]:
        return whole.select(self + other)


(Column() + Column()).select("a") + Column


class Grown(Whole):
    a: sd.String
    b: Annotated[sd.I64, whole.select("nope")]
    c: Final[sd.I64] = 5
    d: Literal["a"]
    e: "sd.Nullable[Grown]"
    f: sd.List[sd.List[sd.Nullable[sd.Struct["Grown"]]]]
    g: Callable[[Whole], sd.I64]
    h: type[Whole]
    i: Self
    j: sd.Map[sd.I64]
    k: sd.Decimal[Literal[39], Literal["x"]]
    l: sd.Decimal[15, 2]
    m: sd.Struct[sd.I64]

    def a(self) -> sd.Expr[sd.I64]:
        return self.a + self.e.f

    class Grown(sd.Schema):
        a: sd.I64


grown = sd.read_named("grown", Grown)
grown.select("a", "e", "f", "m").filter(lambda r: r.e["e"]["e"].a > r.f[0][0]["a"] + r.m)
grown.as_(Whole).as_(grown).as_(Grown.Grown).into(lambda r: Grown(a=r.a, **r)).into(Grown).into(lambda r: Grown)
sd.read_virtual([Grown(), (1,), {"a": 5}, [whole]], Grown), sd.read_virtual(whole, whole), sd.read_virtual([], {})
sd.reveal_schema(), sd.reveal_schema(5), sd.reveal_schema(whole, whole), sd.reveal_schema(*[whole])
undefined = undefined.select("a").join(undefined, lambda l, r: l.a == r.undefined)

last: int = sd.read_named("t", Whole).select("a")
