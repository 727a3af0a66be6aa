"""Arguments of several types: unions, enums, dicts of a declared form."""

import enum
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Orders, orders

X = TypeVar("X")


class Column(enum.StrEnum):
    DAY = "day"
    COMMENT = "comment"


class Names(TypedDict, total=False):
    day: str
    comment: str


class Pair(NamedTuple):
    first: str
    second: str


def same(value: X) -> X:
    return value


def lines(path: str | Path) -> sd.Relation:
    return sd.read_files(path, {"id": "string"}, format="csv")


def some(paths: str | list[str], columns: list[str] | None, kind: Literal["path", "folder"] = "path") -> sd.Relation:
    return sd.read_files(paths, {"id": "string", "name": "string"}, columns=columns, kind=kind)


def declared(schema: type[Orders] | dict[str, str]) -> sd.Relation[Any]:
    sd.read_named("orders", schema or Orders)
    sd.read_named("orders", Orders if schema else schema)
    return sd.read_named("orders", schema)


def typed(kind: sd.I64 | sd.String, number: Literal[1, 2] | None) -> None:
    sd.null(kind)
    sd.lit(number, sd.I32)
    orders.filter(lambda o: o.id == sd.lit(number or 1))


def chosen(column: Column | Literal["customer"], names: Names, pair: Pair) -> None:
    orders.select(column)
    orders.sort(sd.desc(column, nulls="last" if names else "first"))
    orders.rename({key: str(value) for key, value in names.items()})
    orders.select(*pair)


def looped() -> None:
    for how in ("left", "inner", "left_semi"):
        orders.join(orders.rename(id="other"), lambda a, b: a.id == b.other, how=how)
    for column in ("id", "day"):
        orders.select(column).filter(sd.col(column).is_not_null())


def passing(
    condition: Callable[[Orders], sd.Expr[sd.Boolean]] | sd.Expr[sd.Boolean], rows: sd.Relation[Orders] | None
) -> None:
    orders.filter(same(condition))
    (orders if rows is None else rows).filter(condition)
    sd.update("orders", Orders, {"weight": 1.0}, where=same(sd.col("id") > 1))


lines("a.csv")
lines(Path("a.csv"))
some("a", None)
some(["a"], ["id"], "folder")
declared(Orders)
typed(sd.I64(), 1)
chosen(Column.DAY, {"day": "date"}, Pair("id", "day"))
looped()
passing(lambda o: o.id > 1, None)
sd.reveal_schema(orders.select(Column.DAY, n=lambda o: f.coalesce(o.comment, "none")))
# N: Schema is day: date, n: string?
