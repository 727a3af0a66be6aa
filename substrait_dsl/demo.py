"""The demonstration: one small pipeline, built, shown, serialised and run: without Java, or on Spark."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from decimal import Decimal as D
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f

if TYPE_CHECKING:
    from substrait_dsl.spark.session.servers import EngineName


class Customers(sd.Schema):
    """Who buys."""

    id: sd.I64
    name: sd.String
    country: sd.Nullable[sd.String]


class Orders(sd.Schema):
    """What was bought."""

    customer_id: sd.I64
    day: sd.Date
    price: sd.Decimal[L[15], L[2]]
    discount: sd.Nullable[sd.Decimal[L[15], L[2]]]


def pipeline() -> sd.Relation[Any]:
    """Revenue by country and customer, with subtotals, of the customers who ordered in 2026."""
    customers = sd.read_virtual(
        [(1, "Ada", "GB"), (2, "Grace", "US"), (3, "Edgar", "GB"), (4, "Jim", None)],
        Customers,
    )
    orders = sd.read_virtual(
        [
            (1, dt.date(2026, 1, 5), D("120.00"), D("0.10")),
            (1, dt.date(2026, 2, 9), D("80.50"), None),
            (2, dt.date(2026, 3, 1), D("300.00"), D("0.25")),
            (3, dt.date(2025, 12, 31), D("45.00"), None),
            (4, dt.date(2026, 6, 2), D("10.00"), D("0.00")),
        ],
        Orders,
    )
    return (
        orders.filter(lambda o: o.day >= dt.date(2026, 1, 1))
        .join(customers, on=lambda o, c: o.customer_id == c.id)
        .with_columns(revenue=lambda r: r.price * (1 - f.coalesce(r.discount, D("0.00"))))
        .aggregate(
            "country",
            "name",
            grouping_sets=[("country", "name"), ("country",), ()],
            orders=f.count(),
            revenue=lambda r: f.sum(r.revenue),
        )
        .sort("grouping_set", sd.desc("revenue"))
    )


def run(engine: EngineName | None = None, *, rows: bool = True) -> None:
    """Print the demonstration.

    Args:
        engine: what computes the rows; None: the embedded engine, unless Spark alone is installed.
        rows: whether they are computed; without them nothing but the library is needed.

    Raises:
        ExecutionError: the engine is not installed, or does not start.
    """
    relation = pipeline()
    _heading("The pipeline, every column with its type and nullability, known before anything runs")
    print(relation)
    _heading("Its columns")
    print(relation.schema)
    data = relation.to_plan().to_bytes()
    _heading(f"The Substrait plan: {len(data)} bytes, which other engines can run; it begins")
    print("\n".join(relation.to_plan().to_json().splitlines()[:12]))
    if not rows:
        return
    is_spark_alone = find_spec("pysail") is None and find_spec("pyspark") is not None
    engine = engine or ("spark" if is_spark_alone else "sail")
    _heading(f"Its rows, from {_NAMES[engine]}")
    sys.stdout.flush()  # the engine takes a while to start
    from substrait_dsl.spark.session.local import local_session

    session = local_session("substrait-dsl demo", engine=engine)
    try:
        relation.show(session)
    finally:
        session.stop()


_NAMES: Mapping[EngineName, str] = {"sail": "the embedded engine", "spark": "Spark"}


def _heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")
