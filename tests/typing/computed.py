"""Values that the program computes or changes, and which mypy must not take for known."""

import datetime as dt
import decimal
from typing import Annotated, Any
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f


class Other(sd.Schema):
    key: sd.I64


other = sd.read_named("other", Other)


def computed(when: dt.datetime = dt.datetime(2024, 1, 1), n: int = 2, kind: str = "a") -> None:
    sd.reveal_schema(other.with_columns(at=when).limit(3))
    # N: Schema is key: i64, at: unknown
    sd.reveal_schema(other.select(**{f"{kind}_id": sd.col("key")}))
    # N: Schema is unknown
    sd.reveal_schema(other.rename(key=kind + "_id"))
    # N: Schema is unknown name: i64
    sd.reveal_schema(sd.read_named("x", {"v": ["string", "i64"][kind.startswith("a")]}))
    # N: Schema is unknown
    sd.reveal_schema(other.select(["key", "key", "key"][n]))
    # N: Schema is unknown
    sd.reveal_schema(other.select(x=sd.null(f"varchar<{n}>")))
    # N: Schema is x: unknown


def either(flag: bool = True) -> "sd.Relation[Other] | sd.Relation[Mine]":
    return other if flag else mine


class Mine(sd.Schema):
    key: sd.I64
    name: sd.String


mine = sd.read_named("mine", Mine)
sd.reveal_schema(other.cross(either().limit(2)))
# N: Schema is unknown


def key_of(row: Other) -> sd.Expr[sd.I64]:
    return row.key


def total() -> sd.Measure[sd.I64, sd.Null]:
    return f.sum(sd.col("key")).alias("total").filter(other.c.key > 3)


sd.reveal_schema(other.select(key_of))
# N: Schema is key: i64
sd.reveal_schema(other.select(sd.col("key"), x=key_of))
# N: Schema is key: i64, x: i64


class Ids:
    name = other.c.key


sd.reveal_schema(other.select(Ids.name))
# N: Schema is unknown name: i64


def more(rows: sd.Relation[Other], others: sd.Relation[Any]) -> None:
    sd.reveal_schema(rows.union_all(others))
    # N: Schema is key: unknown, ...


def text() -> sd.I64:
    return sd.I64(nullable=True)


sd.reveal_schema(sd.read_named("x", {"a": text()}))
# N: Schema is a: i64?


def converted(kind: sd.I64) -> None:
    sd.reveal_schema(other.select(x=lambda o: o.key.cast(kind)))
    # N: Schema is x: unknown
    sd.reveal_schema(other.select(x=lambda o: o.key.cast(sd.I64(nullable=True))))
    # N: Schema is x: i64?


sd.reveal_schema(sd.read_named("x", {"v": {"a": "i64" if dt.date.today().year > 1 else "string"}["a"]}))
# N: Schema is unknown
sd.reveal_schema(mine.select(*frozenset(("key",))))
# N: Schema is unknown

# What may be changed by another name.

base = ["key"]
joined = [*base, "name"]
joined.append("key")
first = second = ["key"]
second.append("name")
words = list(base)
words.append("name")
add_to = ["key"]
add = add_to.append
add("name")
held = ["key"]
holder = [held]
holder[0].append("name")
looped = ["key"]
for each in (looped,):
    each.append("name")
read = ["key"]
sd.reveal_schema(mine.select(*first))
# N: Schema is unknown
sd.reveal_schema(mine.select(*words))
# N: Schema is unknown
sd.reveal_schema(mine.select(*add_to))
# N: Schema is unknown
sd.reveal_schema(mine.select(*held))
# N: Schema is unknown
sd.reveal_schema(mine.select(*looped))
# N: Schema is unknown
sd.reveal_schema(mine.select(*read))
# N: Schema is key: i64


def matched(value: object = ("name", 1)) -> None:
    column = "key"
    match value:
        case (str() as column, 1):
            pass
    sd.reveal_schema(mine.select(column))
    # N: Schema is unknown


# Columns that Python sees and mypy does not.


class Plain:
    at: sd.Date


class Mixed(Plain, sd.Schema):
    key: sd.I64


class Marked(sd.Schema):
    key: Annotated[sd.I64, sd.I32()]


sd.reveal_schema(sd.read_named("mixed", Mixed))
# N: Schema is unknown
sd.reveal_schema(sd.read_named("marked", Marked))
# N: Schema is key: unknown


# Structs whose fields differ in their names alone.


class P(sd.Schema):
    p: sd.I64


class Q(sd.Schema):
    q: sd.I64


class HasP(sd.Schema):
    x: sd.Struct[P]


class HasQ(sd.Schema):
    x: sd.Struct[Q]


class Two(sd.Schema):
    a: sd.Struct[HasP]
    b: sd.Struct[HasQ]


sd.reveal_schema(sd.read_named("two", Two).select("a", "b").select(v=lambda r: r.a["x"]["p"]))
# N: Schema is v: i64

names = {"key": "id"}
sd.reveal_schema(other.rename(names))
# N: Schema is id: i64
computed()
matched()
more(other, other)

# Numbers of which the digits, or the column at that position, are known only when the program runs.


class Prices(sd.Schema):
    a: sd.I64
    b: sd.I64
    name: sd.String
    price: sd.Decimal[L[15], L[2]]


prices = sd.read_named("prices", Prices)


class Dearer(sd.Schema):
    price: sd.Decimal[L[20], L[2]]


def scaled(number: int, rate: decimal.Decimal) -> sd.Relation[Dearer]:
    sd.reveal_schema(prices.select("a" if number else "name", p=lambda r: r.price * number))
    # N: Schema is ..., p: unknown
    sd.reveal_schema(prices.select("a", p=lambda r: r.price * number, q=lambda r: r.price % number))
    # N: Schema is a: i64, p: unknown, q: unknown
    sd.reveal_schema(prices.select(p=lambda r: r.price + number, q=lambda r: r.price + rate))
    # N: Schema is p: unknown, q: unknown
    sd.reveal_schema(prices.aggregate("a", p=lambda r: f.sum(r.price - rate), n=f.count()))
    # N: Schema is a: i64, p: unknown, n: i64
    for times in (10, 100):
        sd.reveal_schema(prices.select(p=lambda r, n=times: r.price * n))
        # N: Schema is p: unknown
    sd.reveal_schema(prices.select(p=lambda r: r.price * len("abc")))
    # N: Schema is p: unknown
    return prices.select(price=lambda r: r.price * number).as_(Dearer)


def positioned(number: int) -> None:
    sd.reveal_schema(prices.select(x=lambda r: f.upper(r[number]), y=lambda r: r[number], z=prices[number]))
    # N: Schema is x: unknown, y: unknown, z: unknown
    sd.reveal_schema(prices.select(x=sd.col(number), y=prices.c.a))
    # N: Schema is x: unknown, y: i64


scaled(1000, decimal.Decimal("1.00001"))
positioned(2)

# Lists and dicts that methods and operators of the program's own may change.


class Builder:
    def select(self, columns: list[str]) -> None:
        columns.append("price")

    def collect(self, columns: dict[str, Any]) -> None:
        columns["p"] = sd.col("price")

    def __contains__(self, columns: list[str]) -> bool:
        columns.append("price")
        return True

    def __add__(self, columns: list[str]) -> "Builder":
        columns.append("price")
        return self


def built() -> Builder:
    return Builder()


selected = ["name"]
builder = built()
builder.select(selected)
sd.reveal_schema(prices.select(*selected))
# N: Schema is unknown
asked = ["name"]
print(asked in Builder())
sd.reveal_schema(prices.select(*asked))
# N: Schema is unknown
summed = ["name"]
Builder() + summed
sd.reveal_schema(prices.select(*summed))
# N: Schema is unknown
collected = {"x": sd.col("a")}
built().collect(collected)
sd.reveal_schema(prices.select(**collected))
# N: Schema is unknown


def several(first: sd.Relation[Prices], rest: list[sd.Relation[Any]]) -> None:
    sd.reveal_schema(first.union_all(*rest))
    # N: Schema is a: unknown, b: unknown, name: unknown, price: unknown, ...


several(prices, [prices])
