"""Rows of the tables, the same each time, with NULLs and repetitions: ``months(orders).collect(tables=tables())``."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import substrait_dsl as sd
from examples.everyday import schemas as s

START = dt.datetime(2024, 1, 1, 8)
DAY = START.date()


def cents(number: int) -> Decimal:
    """An amount of money."""
    return Decimal(number).scaleb(-2)


def after(days: int) -> dt.date:
    """A day, counted from the first one."""
    return DAY + dt.timedelta(days=days)


def at(minutes: float) -> dt.datetime:
    """A time, counted from the first one."""
    return START + dt.timedelta(minutes=minutes)


CLICKS = [(n % 4, at(n * n * 7 % 600 + n / 60), f"/{n % 5}") for n in range(60)]

ORDERS = [
    (
        n,
        n * n % 11,
        after(n * 13 % 150),
        (None, "east", "west", "north")[n % 4],
        ("open", "paid", "returned")[n % 3],
        None if n % 9 == 4 else cents(n * 700 % 901 + 100 * (n % 4)),
    )
    for n in range(60)
] + [(7, 5, after(91), "north", "paid", cents(-500))]

PROFILES = [
    (n % 8, at(n * 37 % 101), f"name {n % 8}.{n}", None if n % 5 == 0 else f"{n}@shop.example") for n in range(24)
]

BASKETS = [
    (
        n,
        {"city": ("Oslo", "Lima", "Bonn")[n % 3], "zip": None if n % 4 else f"{n:05}"},
        [{"sku": f"sku{(n + m) % 5}", "pieces": m + 1, "price": cents(199 + 50 * m)} for m in range(n % 4)],
    )
    for n in range(30)
]

REQUESTS = [(("/cart", "/pay", "/search")[n % 3], None if n % 10 == 9 else n * n % 97) for n in range(63)] + [
    ("/down", None)
]

TRADES = [(n, ("AAA", "BBB", "CCC", "DDD")[n % 4], at(n * 11 % 240)) for n in range(40)]

QUOTES = [
    (symbol, at(20 + n * 29 % 230 + place), cents(1000 * (place + 1) + n))
    for place, symbol in enumerate(["AAA", "BBB", "CCC"])
    for n in range(15)
]

HOMES = [
    *((n, ("Oslo", "Lima", "Bonn")[n % 3], after(n), None) for n in range(12)),
    *((n, "Rome", after(n - 100), after(n)) for n in range(0, 12, 3)),
]

MOVES = [(n, ("Oslo", "Bonn")[n % 2], after(60 + n)) for n in range(2, 15)]

SALES = [
    (n, None if n % 7 == 6 else cents(n * 311 % 1000), after(n % 4), ("east", "west", "north")[n % 3])
    for n in range(48)
]

SIGNUPS = """\
id,email,day,credit
1, Ann@Shop.Example ,31/12/2023,12.50
2,bob@shop.example,02/01/2024,
3,,05/01/2024,7
,nobody@shop.example,05/01/2024,1.00
4,"cid, jr.@shop.example",soon,3.25
1,ann@shop.example,31/12/2023,12.50
5,DAN@shop.example,17/02/2024,many
x,eve@shop.example,18/02/2024,2.00
6,fay@shop.example,29/02/2024,0.99
6,fay@shop.example,29/02/2024,0.99
7,,,
"""


def tables() -> dict[str, pa.Table]:
    """The tables by name, in Arrow."""
    made: dict[str, tuple[type[sd.Schema], list[tuple[Any, ...]]]] = {
        "clicks": (s.Click, CLICKS),
        "orders": (s.Order, ORDERS),
        "profiles": (s.Profile, PROFILES),
        "baskets": (s.Basket, BASKETS),
        "requests": (s.Request, REQUESTS),
        "trades": (s.Trade, TRADES),
        "quotes": (s.Quote, QUOTES),
        "homes": (s.Home, HOMES),
        "moves": (s.Move, MOVES),
    }
    return {name: table(schema, rows) for name, (schema, rows) in made.items()}


def table(schema: type[sd.Schema], rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows as a table of Arrow with the columns of a schema."""
    columns = pa.schema(schema)
    return pa.Table.from_pylist([dict(zip(columns.names, row, strict=True)) for row in rows], columns)


def write_files(folder: Path) -> None:
    """Write what is read from files: ``signups.csv``, and ``sales`` in folders by day and region."""
    (folder / "signups.csv").write_text(SIGNUPS)
    pq.write_to_dataset(table(s.Sale, SALES), folder / "sales", partition_cols=["day", "region"])
