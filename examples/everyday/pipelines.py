"""Thirteen pipelines that a data engineer writes on a Monday: each a function of the relations that it reads.

``top_orders(sd.read_named("orders", Order)).show(tables=data.tables())`` runs one in the process. Their forms in
PySpark and Polars, with the same rows, are in ``tests/everyday_forms``.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import substrait_dsl as sd
from examples.everyday.schemas import (
    Basket,
    Click,
    Home,
    Move,
    Order,
    Profile,
    Quote,
    Request,
    Sale,
    Signup,
    Trade,
)
from substrait_dsl import everyday as e
from substrait_dsl import functions as f

Rows = sd.Relation[Any]


def sessions(clicks: sd.Relation[Click]) -> Rows:
    """The visits of each user: clicks with no more than half an hour between them."""
    window: dict[str, Any] = {"partition_by": "user", "order_by": "at"}
    near = sd.col("at") <= f.lag(sd.col("at")).over(**window) + dt.timedelta(minutes=30)
    return (
        clicks.with_columns(begins=sd.when(near).then(0).otherwise(1))
        .with_columns(session=f.sum(sd.col("begins")).over(**window))
        .group_by("user", "session")
        .agg(start=lambda c: f.min(c.at), end=lambda c: f.max(c.at), clicks=f.count())
    )


def cohorts(orders: sd.Relation[Order]) -> Rows:
    """How many customers of each first month bought again, so many months later."""
    return (
        orders.with_columns(cohort=lambda o: e.date_trunc("MONTH", f.min(o.day).over(partition_by="customer")))
        .group_by("cohort", months=lambda o: e.date_diff("MONTH", o.cohort, o.day))
        .agg(customers=lambda o: f.count(o.customer).distinct())
    )


def top_orders(orders: sd.Relation[Order]) -> Rows:
    """The three largest orders of each customer."""
    return orders.drop_nulls("amount").first_of(3, partition_by="customer", order_by=[sd.desc("amount"), "id"])


def latest_profiles(profiles: sd.Relation[Profile]) -> Rows:
    """The profile of each customer as it was updated last."""
    return profiles.distinct(on="customer", order_by=sd.desc("updated"))


def revenue_by_city(baskets: sd.Relation[Basket]) -> Rows:
    """What was sold of each item in each city, from lists of structs."""
    return (
        baskets.unnest("items", element="item")
        .group_by(city=lambda b: b.address["city"], sku=lambda b: b.item["sku"])
        .agg(revenue=lambda b: f.sum(b.item["price"] * b.item["pieces"]))
    )


def months(orders: sd.Relation[Order]) -> Rows:
    """Orders and revenue of each month."""
    return (
        orders.group_by(month=lambda o: e.date_trunc("MONTH", o.day))
        .agg(orders=f.count(), revenue=lambda o: f.sum(o.amount))
        .sort("month")
    )


def clean_signups(folder: Path) -> Rows:
    """The lines of a CSV file with a number, each once: trimmed, typed, and NULL where a text is no date or amount."""
    lines = sd.read_csv(folder / "signups.csv", Signup, formats={"day": "%d/%m/%Y"}, invalid="null")
    return (
        lines.with_columns(email=lambda s: f.lower(f.trim(f.coalesce(s.email, "unknown"), " ")))
        .drop_nulls("id")
        .distinct()
    )


def response_times(requests: sd.Relation[Request]) -> Rows:
    """The median and the upper percentiles of the requests of each path."""
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return requests.group_by("path").agg(
        **{name: e.percentile(sd.col("milliseconds"), share) for name, share in shares.items()}
    )


def revenue_by_status(orders: sd.Relation[Order]) -> Rows:
    """Revenue of each region, with a column for each status."""
    return orders.group_by("region").pivot("status", ["open", "paid", "returned"], lambda o: f.sum(o.amount))


def quality(orders: sd.Relation[Order]) -> Rows:
    """What is wrong with the orders, in one row."""
    return orders.aggregate(
        rows=f.count(),
        repeated=lambda o: f.count() - f.count(o.id).distinct(),
        no_region=f.count().filter(sd.col("region").is_null()),
        no_amount=f.count().filter(sd.col("amount").is_null()),
        negative=f.count().filter(sd.col("amount") < 0),
    )


def priced_trades(trades: sd.Relation[Trade], quotes: sd.Relation[Quote]) -> Rows:
    """The price of each trade: the last quote that is not later."""
    return trades.asof_join(quotes, on="at", by="symbol")


def sales_of_a_day(folder: Path) -> Rows:
    """The sales of a day by region, from the folders of that day."""
    return (
        sd.read_files(folder / "sales", Sale, kind="folder")
        .filter(lambda s: s.day == dt.date(2024, 1, 2))
        .group_by("region")
        .agg(sales=f.count(), amount=lambda s: f.sum(s.amount))
    )


def moved(homes: sd.Relation[Home], moves: sd.Relation[Move]) -> Rows:
    """The history of homes after moves (a slowly changing dimension of type 2): homes that end, and new ones."""
    lived = homes.filter(lambda h: h.until.is_null())
    new = moves.join(lived, using=["customer", "city"], how="left_anti")
    ended = homes.join(new.select("customer", "day"), using="customer", how="left")
    return (
        ended.with_columns(until=lambda h: f.coalesce(h.until, h.day))
        .drop("day")
        .union_all(new.rename(day="since").with_columns(until=sd.null(sd.Date)))
    )


PIPELINES = {
    pipeline.__name__: pipeline
    for pipeline in (
        sessions,
        cohorts,
        top_orders,
        latest_profiles,
        revenue_by_city,
        months,
        clean_signups,
        response_times,
        revenue_by_status,
        quality,
        priced_trades,
        sales_of_a_day,
        moved,
    )
}
"""The pipelines by name."""
