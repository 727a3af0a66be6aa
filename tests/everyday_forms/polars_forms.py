"""The thirteen pipelines of ``examples/everyday`` in Polars, by the same names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl


def sessions(clicks: pl.DataFrame) -> pl.DataFrame:
    begins = (pl.col("at").diff() > dt.timedelta(minutes=30)).fill_null(True)
    return (
        clicks.sort("at")
        .with_columns(session=begins.cum_sum().over("user"))
        .group_by("user", "session")
        .agg(start=pl.col("at").min(), end=pl.col("at").max(), clicks=pl.len())
    )


def cohorts(orders: pl.DataFrame) -> pl.DataFrame:
    day, cohort = pl.col("day").dt, pl.col("cohort").dt
    return (
        orders.with_columns(cohort=pl.col("day").min().over("customer").dt.truncate("1mo"))
        .group_by("cohort", months=(day.year() - cohort.year()) * 12 + day.month() - cohort.month())
        .agg(customers=pl.col("customer").n_unique())
    )


def top_orders(orders: pl.DataFrame) -> pl.DataFrame:
    return (
        orders.drop_nulls("amount").sort("amount", "id", descending=[True, False]).group_by("customer").head(3)
    ).select(orders.columns)


def latest_profiles(profiles: pl.DataFrame) -> pl.DataFrame:
    return profiles.sort("updated").unique("customer", keep="last")


def revenue_by_city(baskets: pl.DataFrame) -> pl.DataFrame:
    item = pl.col("items").struct
    return (
        baskets.explode("items", empty_as_null=False)
        .group_by(city=pl.col("address").struct["city"], sku=item["sku"])
        .agg(revenue=(item["price"] * item["pieces"]).sum())
    )


def months(orders: pl.DataFrame) -> pl.DataFrame:
    return (
        orders.group_by(month=pl.col("day").dt.truncate("1mo"))
        .agg(orders=pl.len(), revenue=pl.col("amount").sum())
        .sort("month")
    )


def clean_signups(folder: Path) -> pl.DataFrame:
    lines = pl.read_csv(folder / "signups.csv", infer_schema=False)
    return (
        lines.select(
            pl.col("id").cast(pl.Int64, strict=False),
            pl.col("email").fill_null("unknown").str.strip_chars().str.to_lowercase(),
            pl.col("day").str.to_date("%d/%m/%Y", strict=False),
            pl.col("credit").cast(pl.Decimal(9, 2), strict=False),
        )
        .drop_nulls("id")
        .unique()
    )


def response_times(requests: pl.DataFrame) -> pl.DataFrame:
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return requests.group_by("path").agg(
        **{name: pl.col("milliseconds").quantile(share, "linear") for name, share in shares.items()}
    )


def revenue_by_status(orders: pl.DataFrame) -> pl.DataFrame:
    return orders.pivot("status", index="region", values="amount", aggregate_function="sum").select(
        "region", "open", "paid", "returned"
    )


def quality(orders: pl.DataFrame) -> pl.DataFrame:
    return orders.select(
        rows=pl.len(),
        repeated=pl.len() - pl.col("id").n_unique(),
        no_region=pl.col("region").null_count(),
        no_amount=pl.col("amount").null_count(),
        negative=(pl.col("amount") < 0).sum(),
    )


def priced_trades(trades: pl.DataFrame, quotes: pl.DataFrame) -> pl.DataFrame:
    return trades.sort("at").join_asof(quotes.sort("at"), on="at", by="symbol")


def sales_of_a_day(folder: Path) -> pl.DataFrame:
    return (
        pl.read_parquet(folder / "sales")
        .filter(pl.col("day") == dt.date(2024, 1, 2))
        .group_by("region")
        .agg(sales=pl.len(), amount=pl.col("amount").sum())
    )


def moved(homes: pl.DataFrame, moves: pl.DataFrame) -> pl.DataFrame:
    new = moves.join(homes.filter(pl.col("until").is_null()), on=["customer", "city"], how="anti")
    ended = homes.join(new.select("customer", "day"), on="customer", how="left")
    return pl.concat(
        [
            ended.with_columns(until=pl.coalesce("until", "day")).drop("day"),
            new.rename({"day": "since"}),
        ],
        how="diagonal",
    )
