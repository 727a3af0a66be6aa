"""Invoices: a class whose methods give relations, and money in decimals."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

import substrait_dsl as sd
from grid.consumption import Daily, daily
from grid.tables import Customer, Payment, Tariff, customers, meters, payments, readings, tariffs
from substrait_dsl import L
from substrait_dsl import functions as f

Money = sd.Decimal(12, 2)


class Usage(sd.Schema):
    customer_id: sd.I64
    kwh: sd.Nullable[sd.Decimal[L[38], L[3]]]


class Bill(sd.Schema):
    customer_id: sd.I64
    tariff_code: sd.String
    due: sd.Nullable[sd.Decimal[L[12], L[2]]]


class Balance(sd.Schema):
    customer_id: sd.I64
    name: sd.String
    open_amount: sd.Nullable[sd.Decimal[L[12], L[2]]]


def money(amount: sd.Expr[Any, Any]) -> sd.Expr[Any, Any]:
    return amount.cast(Money)


@dataclass(frozen=True)
class Period:
    first: dt.date
    last: dt.date

    def contains(self, day: sd.Expr[sd.Date]) -> sd.Expr[sd.Boolean]:
        return (day >= self.first) & (day <= self.last)


@dataclass
class Invoicing:
    """The invoices of a period."""

    period: Period
    customers: sd.Relation[Customer]
    tariffs: sd.Relation[Tariff]
    vat: Decimal = Decimal("0.19")
    reminders: list[sd.Relation[Balance]] = field(default_factory=list)
    fee: ClassVar[Decimal] = Decimal("2.50")

    def valid_tariffs(self) -> sd.Relation[Tariff]:
        is_valid = self.tariffs.filter(lambda t: t.valid_from <= self.period.last)
        return is_valid.filter(lambda t: t.valid_to.is_null() | (t.valid_to >= self.period.first))

    def usage(self, days: sd.Relation[Daily]) -> sd.Relation[Usage]:
        owned = meters.filter(lambda m: m.customer_id.is_not_null()).select(
            m=sd.col("meter_id"), customer_id=lambda m: m.customer_id.assert_not_null()
        )
        inside = days.filter(lambda d: self.period.contains(d.day))
        joined = inside.join(owned, on=lambda d, o: d.meter_id == o.m)
        return joined.group_by("customer_id").agg(kwh=lambda r: f.sum(r.kwh)).as_(Usage)

    def bills(self, usage: sd.Relation[Usage]) -> sd.Relation[Bill]:
        used = usage.rename(customer_id="c")
        with_usage = self.customers.join(used, lambda c, u: c.customer_id == u.c, how="left_single")
        priced = with_usage.join(
            self.valid_tariffs().rename(tariff_code="code"), on=lambda c, t: c.tariff_code == t.code
        )
        return priced.select(
            "customer_id",
            "tariff_code",
            due=lambda r: (f.coalesce(r.kwh, 0).cast(sd.Decimal(14, 3)) * r.per_kwh + r.monthly_fee).cast(
                sd.Decimal(12, 2)
            ),
        ).as_(Bill)

    def balances(self, bills: sd.Relation[Bill], paid: sd.Relation[Payment]) -> sd.Relation[Balance]:
        by_customer = (
            paid.filter(lambda p: self.period.contains(p.paid_on))
            .group_by(payer=lambda p: p.customer_id)
            .agg(paid=lambda p: f.sum(p.amount))
        )
        named = bills.join(
            self.customers.select(id=sd.col("customer_id"), name=sd.col("name")), on=lambda b, c: b.customer_id == c.id
        )
        return (
            named.join(by_customer, on=lambda b, p: b.customer_id == p.payer, how="left")
            .with_columns(open_amount=lambda r: (r.due - f.coalesce(r.paid.cast(Money), Decimal("0.00"))).cast(Money))
            .select("customer_id", "name", "open_amount")
            .as_(Balance)
        )

    def overdue(self, balances: sd.Relation[Balance]) -> sd.Relation[Balance]:
        late = balances.filter(lambda b: b.open_amount > self.fee)
        self.reminders.append(late)
        return late.sort(sd.desc("open_amount"), "name")

    def letters(self, balances: sd.Relation[Balance]) -> sd.Relation[Any]:
        reachable = customers.filter(lambda c: c.email.is_not_null()).rename(customer_id="id", name="full_name")
        return balances.join(reachable, on=lambda b, c: b.customer_id == c.id).select(
            "email",
            subject=lambda r: f.concat("Reminder for ", r.full_name),
            amount=lambda r: r.open_amount + Decimal("2.50"),
            greeting=lambda r: sd.when(f.ends_with(r.email, ".org")).then("Dear all").otherwise(r.name),
        )


def method_totals(paid: sd.Relation[Payment]) -> sd.Relation[Any]:
    kind = sd.switch(f.upper(f.substring(sd.col("reference"), 1, 2)), {"TR": "transfer", "CC": "card"}, "other")
    return (
        paid.with_columns(kind=kind)
        .group_by("kind")
        .agg(payments=f.count(), total=lambda p: f.sum(p.amount), largest=lambda p: f.max(p.amount))
        .filter(lambda p: p.payments > 10)
        .sort(sd.desc("total"))
    )


def build() -> list[sd.Relation[Any]]:
    invoicing = Invoicing(Period(dt.date(2025, 1, 1), dt.date(2025, 3, 31)), customers, tariffs)
    bills = invoicing.bills(invoicing.usage(daily(readings)))
    balances = invoicing.balances(bills, payments)
    discounts = bills.with_columns(due=lambda b: money(b.due * Decimal("0.9")))
    return [
        bills.filter(lambda b: b.due > 100),
        balances,
        invoicing.overdue(balances),
        invoicing.letters(balances),
        method_totals(payments),
        discounts.as_(Bill).union_all(bills).select("due"),
    ]
