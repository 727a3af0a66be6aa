"""The thirteen pipelines of ``examples/everyday`` in PySpark, by the same names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as f  # those of a client: the session of the tests is one
from pyspark.sql.connect.window import Window


def sessions(clicks: DataFrame) -> DataFrame:
    window = Window.partitionBy("user").orderBy("at")
    near = f.col("at") <= f.lag("at").over(window) + f.lit(dt.timedelta(minutes=30))
    return (
        clicks.withColumn("begins", f.when(near, 0).otherwise(1))
        .withColumn("session", f.sum("begins").over(window))
        .groupBy("user", "session")
        .agg(f.min("at").alias("start"), f.max("at").alias("end"), f.count("*").alias("clicks"))
    )


def cohorts(orders: DataFrame) -> DataFrame:
    return (
        orders.withColumn("cohort", f.trunc(f.min("day").over(Window.partitionBy("customer")), "month"))
        .groupBy("cohort", f.floor(f.months_between("day", "cohort")).alias("months"))
        .agg(f.countDistinct("customer").alias("customers"))
    )


def top_orders(orders: DataFrame) -> DataFrame:
    window = Window.partitionBy("customer").orderBy(f.desc("amount"), "id")
    return (
        orders.dropna(subset="amount")
        .withColumn("place", f.row_number().over(window))
        .where("place <= 3")
        .drop("place")
    )


def latest_profiles(profiles: DataFrame) -> DataFrame:
    window = Window.partitionBy("customer").orderBy(f.desc("updated"))
    return profiles.withColumn("place", f.row_number().over(window)).where("place = 1").drop("place")


def revenue_by_city(baskets: DataFrame) -> DataFrame:
    return (
        baskets.withColumn("item", f.explode("items"))
        .groupBy("address.city", "item.sku")
        .agg(f.sum(f.col("item.price") * f.col("item.pieces")).alias("revenue"))
    )


def months(orders: DataFrame) -> DataFrame:
    return (
        orders.groupBy(f.trunc("day", "month").alias("month"))
        .agg(f.count("*").alias("orders"), f.sum("amount").alias("revenue"))
        .sort("month")
    )


def clean_signups(spark: SparkSession, folder: Path) -> DataFrame:
    lines = spark.read.csv(f"{folder}/signups.csv", header=True)
    return (
        lines.select(
            f.col("id").try_cast("long"),
            f.lower(f.trim(f.coalesce("email", f.lit("unknown")))).alias("email"),
            f.try_to_timestamp("day", f.lit("dd/MM/yyyy")).cast("date").alias("day"),
            f.col("credit").try_cast("decimal(9,2)"),
        )
        .dropna(subset="id")
        .distinct()
    )


def response_times(requests: DataFrame) -> DataFrame:
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return requests.groupBy("path").agg(
        *(f.percentile("milliseconds", share).alias(name) for name, share in shares.items())
    )


def revenue_by_status(orders: DataFrame) -> DataFrame:
    return orders.groupBy("region").pivot("status", ["open", "paid", "returned"]).sum("amount")


def quality(orders: DataFrame) -> DataFrame:
    return orders.agg(
        f.count("*").alias("rows"),
        (f.count("*") - f.countDistinct("id")).alias("repeated"),
        f.count_if(f.col("region").isNull()).alias("no_region"),
        f.count_if(f.col("amount").isNull()).alias("no_amount"),
        f.count_if(f.col("amount") < 0).alias("negative"),
    )


def priced_trades(trades: DataFrame, quotes: DataFrame) -> DataFrame:
    known = quotes.toDF("of", "since", "price")
    return (
        trades.join(known, (f.col("symbol") == f.col("of")) & (f.col("since") <= f.col("at")), "left")
        .groupBy(trades.columns)
        .agg(f.max_by("price", "since").alias("price"))
    )


def sales_of_a_day(spark: SparkSession, folder: Path) -> DataFrame:
    return (
        spark.read.parquet(f"{folder}/sales")
        .where(f.col("day") == dt.date(2024, 1, 2))
        .groupBy("region")
        .agg(f.count("*").alias("sales"), f.sum("amount").alias("amount"))
    )


def moved(homes: DataFrame, moves: DataFrame) -> DataFrame:
    new = moves.join(homes.where("until is null"), ["customer", "city"], "left_anti")
    ended = homes.join(new.select("customer", "day"), "customer", "left")
    return (
        ended.withColumn("until", f.coalesce("until", "day"))
        .drop("day")
        .unionByName(new.withColumnRenamed("day", "since"), allowMissingColumns=True)
    )
