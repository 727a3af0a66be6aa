"""Damages: subqueries, set operations, conditionals, marks."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from grid.tables import Meter, Outage, Payment, customers, meters, outages, payments, readings, stations
from substrait_dsl import functions as f

BASE = 30
LEVELS = {"storm": 0, "overload": 2, "digging": 1}
CLAIM_COLUMNS = {
    "claim_id": sd.I64,
    "customer_id": sd.I64,
    "filed": sd.Date,
    "amount": sd.Decimal(10, 2),
    "text": "string?",
}


class Claim(sd.Schema):
    claim_id: sd.I64
    customer_id: sd.I64
    filed: sd.Date
    amount: sd.Decimal[sd.L[10], sd.L[2]]
    text: sd.Nullable[sd.String]


class Priority(sd.Schema):
    outage_id: sd.I64
    level: sd.I64
    label: sd.String


claims = sd.read_named("claims", CLAIM_COLUMNS).as_(Claim)


def lasted(outage: Outage) -> sd.Expr[sd.I64, sd.Null]:
    return f.extract("UNIX_TIME", outage.ended_at) - f.extract("UNIX_TIME", outage.started_at)


def long(rows: sd.Relation[Outage], minutes: int = BASE) -> sd.Relation[Outage]:
    return rows.filter(lambda o: lasted(o) > minutes * 60)


def priorities(rows: sd.Relation[Outage]) -> sd.Relation[Priority]:
    level = sd.switch(sd.col("cause"), LEVELS, 3)
    levelled = rows.select(outage_id=lambda o: o.outage_id, level=level, affected=lambda o: o.affected)
    label = (
        sd.when(sd.col("affected") > 1000)
        .then("urgent")
        .when((sd.col("affected") > 100) & (sd.col("level") < 2))
        .then("soon")
        .otherwise("later")
    )
    return levelled.with_columns(label=label).select("outage_id", "level", "label").as_(Priority)


def affected_customers(rows: sd.Relation[Outage]) -> sd.Relation[Any]:
    return customers.filter(
        lambda c: c.customer_id.is_in(
            meters.filter(
                lambda m: sd.exists(rows.filter(lambda o: o.station_id == m.station_id)) & m.customer_id.is_not_null()
            ).select(lambda m: m.customer_id.assert_not_null())
        )
    )


def unusual(rows: sd.Relation[Claim]) -> sd.Relation[Claim]:
    average = rows.aggregate(amount=lambda c: f.avg(c.amount))
    return rows.filter(lambda c: c.amount.cast(sd.Decimal(38, 2)) > sd.scalar_subquery(average) * 2)


def above_all(rows: sd.Relation[Claim], paid: sd.Relation[Payment]) -> sd.Relation[Claim]:
    return rows.filter(
        lambda c: c.amount > sd.all_of(paid.filter(lambda p: p.customer_id == c.customer_id).select("amount"))
    )


def marked(rows: sd.Relation[Claim]) -> sd.Relation[Any]:
    with_mark = rows.join(payments, lambda c, p: c.customer_id == p.customer_id, how="left_mark", mark="pays")
    return with_mark.with_columns(pays=lambda c: f.coalesce(c.pays, False)).filter(lambda c: ~c.pays)


def both(first: sd.Relation[Meter], second: sd.Relation[Meter]) -> sd.Relation[Any]:
    keys = [each.select("meter_id", "serial") for each in (first, second)]
    return keys[0].intersect(keys[1]).sort("serial")


def differences() -> sd.Relation[Any]:
    known = meters.select("meter_id", "station_id")
    read = readings.select("meter_id", station_id=sd.lit(0, sd.I32)).distinct()
    silent = known.set_op("minus_primary", read)
    return silent.union(read.subtract(known)).group_by("station_id").agg(meters=f.count())


def contacts() -> sd.Relation[Any]:
    people = customers.select("customer_id", contact=lambda c: c.email, since=lambda c: c.since)
    filed = claims.select("customer_id", contact=lambda c: c.text, since=lambda c: c.filed)
    return people.union_all(filed).filter(lambda p: p.contact.is_not_null()).sort("since", "customer_id")


def refunds(rows: sd.Relation[Claim]) -> sd.Relation[Any]:
    share = sd.when(sd.col("filed") < dt.date(2025, 1, 1)).then(Decimal("0.50")).otherwise(Decimal("0.75"))
    return (
        rows.with_columns(share=share)
        .with_columns(refund=lambda c: (c.amount * c.share).cast(sd.Decimal(10, 2)))
        .filter(lambda c: c.refund.between(Decimal("1.00"), Decimal("500.00")))
        .select("claim_id", "refund", reason=lambda c: f.coalesce(c.text, "no reason"))
    )


def latest(rows: sd.Relation[Claim]) -> sd.Relation[Any]:
    number = f.row_number().over(partition_by="customer_id", order_by=[sd.desc("filed"), "claim_id"])
    return rows.with_columns(number=number).filter(lambda c: c.number == 1).drop("number")


def pairs(rows: sd.Relation[Claim]) -> sd.Relation[Any]:
    """Two claims of one customer within a week."""
    other = rows.rename(claim_id="other_id", customer_id="other_customer", filed="other_filed").drop("text", "amount")
    return rows.join(
        other,
        on=lambda c, o: (
            (c.customer_id == o.other_customer)
            & (c.claim_id < o.other_id)
            & (o.other_filed.cast(sd.PrecisionTimestamp(6)) <= c.filed + dt.timedelta(days=7))
        ),
    ).select("claim_id", "other_id", days=lambda c: c.filed.is_not_null())


def known_pairs() -> sd.Relation[Any]:
    at = sd.record(sd.col("station_id"), sd.col("cause"))
    return outages.filter(at.is_in([(1, "storm"), (2, "overload")])).join(stations, on="station_id", how="right_semi")


def build() -> list[sd.Relation[Any]]:
    found = long(outages)
    return [
        priorities(found).filter(lambda p: p.level < 3),
        affected_customers(found).select("name", "email"),
        unusual(claims),
        above_all(claims, payments),
        marked(claims),
        both(meters, meters.filter(lambda m: m.is_smart)),
        differences(),
        contacts(),
        refunds(claims),
        latest(claims).select("text"),
        pairs(claims),
        known_pairs(),
        long(outages, minutes=5).filter(lambda o: o.cause == "storm"),
    ]
