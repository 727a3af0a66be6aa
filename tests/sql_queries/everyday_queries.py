"""Queries as people write them in models and reports, and the rows that they read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

TABLES: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
    "customers": (
        {"customer_id": "i64", "name": "string", "city": "string?", "signed_up": "date", "vip": "boolean?"},
        [
            (1, "Ann", "Oslo", date(2023, 1, 15), True),
            (2, "bob", "Bergen", date(2023, 3, 31), False),
            (3, "Cid", None, date(2023, 3, 31), None),
            (4, "Dora Lee", "Oslo", date(2024, 2, 29), True),
            (5, "Eve", "Turku", date(2024, 12, 31), None),
        ],
    ),
    "orders": (
        {
            "order_id": "i64",
            "customer_id": "i64?",
            "status": "string",
            "amount": "decimal<10,2>?",
            "ordered_at": "precision_timestamp<6>",
            "ship_date": "date?",
            "note": "string?",
        },
        [
            (10, 1, "paid", Decimal("100.00"), datetime(2024, 1, 31, 23, 59, 59), date(2024, 2, 2), "gift"),
            (11, 1, "paid", Decimal("20.50"), datetime(2024, 2, 1, 0, 0, 0), date(2024, 2, 1), None),
            (12, 1, "open", Decimal("20.50"), datetime(2024, 2, 29, 12, 30, 15, 250000), None, "  50% off "),
            (13, 2, "paid", Decimal("75.25"), datetime(2024, 2, 10, 8, 5, 0), date(2024, 3, 1), "GIFT card"),
            (14, 2, "cancelled", None, datetime(2024, 3, 3, 17, 45, 30), None, ""),
            (15, 3, "paid", Decimal("5.00"), datetime(2023, 12, 31, 6, 0, 0), date(2024, 1, 2), "a_b"),
            (16, None, "open", Decimal("12.00"), datetime(2024, 3, 15, 10, 10, 10), None, None),
            (17, 4, "paid", Decimal("-3.10"), datetime(2024, 3, 31, 1, 2, 3), date(2024, 4, 1), "refund"),
            (18, 9, "paid", Decimal("44.44"), datetime(2024, 3, 31, 1, 2, 3), date(2024, 4, 5), "x"),
        ],
    ),
    "lines": (
        {"order_id": "i64", "line": "i32", "sku": "string", "quantity": "i32?", "price": "decimal<8,2>"},
        [
            (10, 1, "TEA", 2, Decimal("25.00")),
            (10, 2, "CUP", 1, Decimal("50.00")),
            (11, 1, "TEA", 1, Decimal("20.50")),
            (12, 1, "POT", None, Decimal("20.50")),
            (13, 1, "CUP", 3, Decimal("25.00")),
            (13, 2, "tea", 1, Decimal("0.25")),
            (15, 1, "TEA", 1, Decimal("5.00")),
            (99, 1, "GHOST", 7, Decimal("1.00")),
        ],
    ),
    "events": (
        {"user_id": "i64", "event": "string", "time": "precision_timestamp<6>", "value": "fp64?"},
        [
            (1, "login", datetime(2024, 1, 1, 8, 0, 0), None),
            (1, "view", datetime(2024, 1, 1, 8, 1, 0), 1.5),
            (1, "buy", datetime(2024, 1, 1, 8, 20, 0), 10.0),
            (1, "view", datetime(2024, 1, 1, 10, 0, 0), -2.25),
            (2, "login", datetime(2024, 1, 2, 0, 0, 0), 0.0),
            (2, "view", datetime(2024, 1, 2, 0, 10, 0), 3.0),
            (3, "view", datetime(2024, 2, 5, 23, 59, 59), 100.0),
            (3, "view", datetime(2024, 2, 6, 0, 30, 0), None),
        ],
    ),
    "employees": (
        {"id": "i32", "name": "string", "boss": "i32?", "dept": "string?", "salary": "i32?"},
        [
            (1, "root", None, "board", 300),
            (2, "amy", 1, "it", 200),
            (3, "ben", 1, "hr", 150),
            (4, "cat", 2, "it", 120),
            (5, "dan", 2, "it", 120),
            (6, "eli", 3, "hr", None),
            (7, "fay", 3, None, 90),
        ],
    ),
    "rates": (
        {"month": "date", "rate": "fp64"},
        [(date(2024, 1, 1), 1.1), (date(2024, 2, 1), 1.2), (date(2024, 3, 1), 1.25)],
    ),
}

"""The tables that the queries read: their columns, and rows with NULLs, ties, letters of both cases and gaps."""


def _read_queries() -> Iterator[tuple[str, str, str]]:
    """Each query of the file: its name, its text, and what DuckDB is asked, which spells some otherwise."""
    for entry in Path(__file__).with_name("everyday.sql").read_text("utf-8").split("\n\n"):
        title, *lines = entry.strip().splitlines()
        asked = [line.removeprefix(_ORACLE) for line in lines if line.startswith(_ORACLE)]
        query = "\n".join(line for line in lines if not line.startswith(_ORACLE))
        yield title.removeprefix("-- "), query, asked[0] if asked else query


_ORACLE = "-- DuckDB: "
_READ = [*_read_queries()]

QUERIES: dict[str, str] = {name: query for name, query, _ in _READ}
"""Queries that are read as they stand, by what they show."""

ORACLE: dict[str, str] = {name: asked for name, _, asked in _READ}
"""What DuckDB is asked for the same rows. A date and an interval are a date to DataFusion."""

assert len(QUERIES) == len(_READ), "two queries have one name"
