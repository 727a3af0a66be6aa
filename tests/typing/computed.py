"""Values that the program computes or changes, and which mypy must not take for known."""

import datetime as dt
from typing import Annotated, Any

import substrait_dsl as sd
from substrait_dsl import functions as f


class Other(sd.Schema):
    key: sd.I64


other = sd.read_named("other", Other)


def computed(when: dt.datetime = dt.datetime(2024, 1, 1), n: int = 2, kind: str = "a") -> None:
    sd.reveal_schema(other.with_columns(at=when).limit(3))
    # N: Schema is unknown
    sd.reveal_schema(other.select(**{f"{kind}_id": sd.col("key")}))
    # N: Schema is unknown
    sd.reveal_schema(other.rename(key=kind + "_id"))
    # N: Schema is unknown
    sd.reveal_schema(sd.read_named("x", {"v": ["string", "i64"][kind.startswith("a")]}))
    # N: Schema is unknown
    sd.reveal_schema(other.select(["key", "key", "key"][n]))
    # N: Schema is unknown
    sd.reveal_schema(other.select(x=sd.null(f"varchar<{n}>")))
    # N: Schema is unknown


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
# N: Schema is unknown
sd.reveal_schema(other.select(sd.col("key"), x=key_of))
# N: Schema is key: i64, x: i64


class Ids:
    name = other.c.key


sd.reveal_schema(other.select(Ids.name))
# N: Schema is unknown


def more(rows: sd.Relation[Other], others: sd.Relation[Any]) -> None:
    sd.reveal_schema(rows.union_all(others))
    # N: Schema is unknown


def text() -> sd.I64:
    return sd.I64(nullable=True)


sd.reveal_schema(sd.read_named("x", {"a": text()}))
# N: Schema is unknown


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
# N: Schema is unknown


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
