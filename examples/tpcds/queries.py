"""Twelve queries of TPC-DS by name, with the parameters of the specification: ``QUERIES["q36"]().execute(spark)``.

They use what those of TPC-H do not: subtotals, ranks and running sums, intersections and differences of rows,
alternatives of existence, pivots. Where data of a small scale factor have no store 4, `q44` takes another one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from examples.tpcds.schemas import (
    catalog_returns,
    catalog_sales,
    customer,
    customer_address,
    customer_demographics,
    date_dim,
    item,
    reason,
    store,
    store_sales,
    warehouse,
    web_sales,
)
from substrait_dsl import functions as f

Sales = sd.Relation[Any]

FIRST_MONTH = 1200
"""January 2000, as the calendar counts months."""

year_2000 = date_dim.filter(lambda d: d.d_month_seq.between(FIRST_MONTH, FIRST_MONTH + 11))

SO_FAR = (None, 0)
"""The frame of a running value: the rows from the first one to this one."""


def q09() -> sd.Relation:
    """Averages of five ranges of quantities, of the discount or of what was paid, by how many sales there are."""

    def average(low: int, high: int, most: int) -> sd.DynExpr:
        sold = store_sales.filter(lambda s: s.ss_quantity.between(low, high))
        chosen = sold.aggregate(
            average=lambda s: (
                sd.when(f.count() > most).then(f.avg(s.ss_ext_discount_amt)).otherwise(f.avg(s.ss_net_paid))
            )
        )
        return sd.scalar_subquery(chosen)

    return reason.filter(lambda r: r.r_reason_sk == 1).select(
        bucket1=average(1, 20, 74129),
        bucket2=average(21, 40, 122840),
        bucket3=average(41, 60, 56580),
        bucket4=average(61, 80, 10097),
        bucket5=average(81, 100, 165306),
    )


def q14() -> sd.Relation:
    """Large sales in a month of what all three channels had sold, with subtotals of channels, brands and classes."""
    years = date_dim.filter(lambda d: d.d_year.between(1999, 2001))
    november = date_dim.filter(lambda d: (d.d_year == 2001) & (d.d_moy == 11))
    kinds = ("i_brand_id", "i_class_id", "i_category_id")

    def of(sales: Sales, prefix: str) -> sd.Relation:
        """What was sold, and when, for how much."""
        return sales.select(
            what=f"{prefix}_item_sk",
            sold=f"{prefix}_sold_date_sk",
            amount=lambda s: s[f"{prefix}_quantity"] * s[f"{prefix}_list_price"],
        )

    channels = {"store": of(store_sales, "ss"), "catalog": of(catalog_sales, "cs"), "web": of(web_sales, "ws")}
    in_years = [sales.join(years, on=lambda s, d: s.sold == d.d_date_sk) for sales in channels.values()]
    first, *others = [sales.join(item, on=lambda s, i: s.what == i.i_item_sk).select(*kinds) for sales in in_years]
    everywhere = item.join(first.intersect(*others), using=kinds).select("i_item_sk")
    first, *others = [sales.select("amount") for sales in in_years]
    average = first.union_all(*others).aggregate(average_sales=lambda s: f.avg(s.amount))

    def large(channel: str) -> sd.Relation:
        return (
            channels[channel]
            .filter(lambda s: s.what.is_in(everywhere))
            .join(item, on=lambda s, i: s.what == i.i_item_sk)
            .join(november, on=lambda s, d: s.sold == d.d_date_sk)
            .group_by(*kinds)
            .agg(sales=lambda s: f.sum(s.amount), number_sales=f.count())
            .filter(lambda s: s.sales > sd.scalar_subquery(average))
            .with_columns(channel=sd.lit(channel))
        )

    return (
        large("store")
        .union_all(large("catalog"), large("web"))
        .group_by("channel", *kinds)
        .rollup(sum_sales=lambda s: f.sum(s.sales), sum_number_sales=lambda s: f.sum(s.number_sales))
        .drop("grouping_set")
        .sort("channel", *kinds)
        .fetch(100)
    )


def q33() -> sd.Relation:
    """Sales of the makers of electronics in May 1998, in the three channels together."""
    may = date_dim.filter(lambda d: (d.d_year == 1998) & (d.d_moy == 5))
    east = customer_address.filter(lambda a: a.ca_gmt_offset == -5)
    makers = item.filter(lambda i: i.i_category == "Electronics").select("i_manufact_id")
    made = item.filter(lambda i: i.i_manufact_id.is_in(makers))

    def channel(sales: Sales, sold: str, what: str, where: str, price: str) -> sd.Relation:
        return (
            sales.join(may, on=lambda s, d: s[sold] == d.d_date_sk)
            .join(made, on=lambda s, i: s[what] == i.i_item_sk)
            .join(east, on=lambda s, a: s[where] == a.ca_address_sk)
            .group_by("i_manufact_id")
            .agg(total_sales=lambda s: f.sum(s[price]))
        )

    in_store = channel(store_sales, "ss_sold_date_sk", "ss_item_sk", "ss_addr_sk", "ss_ext_sales_price")
    by_catalog = channel(catalog_sales, "cs_sold_date_sk", "cs_item_sk", "cs_bill_addr_sk", "cs_ext_sales_price")
    on_the_web = channel(web_sales, "ws_sold_date_sk", "ws_item_sk", "ws_bill_addr_sk", "ws_ext_sales_price")
    return (
        in_store.union_all(by_catalog, on_the_web)
        .group_by("i_manufact_id")
        .agg(total_sales=lambda r: f.sum(r.total_sales))
        .sort(sd.asc("total_sales", nulls="last"))
        .fetch(100)
    )


def q35() -> sd.Relation:
    """Customers who bought in a store, and on the web or by catalog, in three quarters, by their demographics."""
    quarters = date_dim.filter(lambda d: (d.d_year == 2002) & (d.d_qoy < 4))

    def has_bought(c: sd.DynRow, sales: Sales, who: str, sold: str) -> sd.Expr[sd.Boolean]:
        bought = sales.join(quarters, on=lambda s, d: s[sold] == d.d_date_sk)
        return sd.exists(bought.filter(lambda s: s[who] == c.c_customer_sk))

    dependents = ("cd_dep_count", "cd_dep_employed_count", "cd_dep_college_count")
    keys = ("ca_state", "cd_gender", "cd_marital_status", *dependents)
    measures: dict[str, Any] = {}
    columns = [*keys[:3]]
    for position, column in enumerate(dependents, start=1):
        counted = {
            f"cnt{position}": f.count(),
            f"min{position}": f.min(sd.col(column)),
            f"max{position}": f.max(sd.col(column)),
            f"avg{position}": f.avg(sd.col(column).cast("decimal<18,6>?")),
        }
        measures |= counted
        columns += [column, *counted]
    return (
        customer.join(customer_address, on=lambda c, a: c.c_current_addr_sk == a.ca_address_sk)
        .join(customer_demographics, on=lambda c, cd: c.c_current_cdemo_sk == cd.cd_demo_sk)
        .filter(
            lambda c: has_bought(c, store_sales, "ss_customer_sk", "ss_sold_date_sk"),
            lambda c: (
                has_bought(c, web_sales, "ws_bill_customer_sk", "ws_sold_date_sk")
                | has_bought(c, catalog_sales, "cs_ship_customer_sk", "cs_sold_date_sk")
            ),
        )
        .group_by(*keys)
        .agg(**measures)
        .select(*columns)
        .sort(*keys)
        .fetch(100)
    )


def q36() -> sd.Relation:
    """The gross margin of each class of items, of each category and of all, and its rank among its siblings."""
    in_tennessee = store.filter(lambda s: s.s_state == "TN")
    return (
        store_sales.join(date_dim.filter(lambda d: d.d_year == 2001), on=lambda s, d: s.ss_sold_date_sk == d.d_date_sk)
        .join(item, on=lambda s, i: s.ss_item_sk == i.i_item_sk)
        .join(in_tennessee, on=lambda s, t: s.ss_store_sk == t.s_store_sk)
        .group_by("i_category", "i_class")
        .rollup(gross_margin=lambda s: f.sum(s.ss_net_profit) / f.sum(s.ss_ext_sales_price))
        .rename(grouping_set="lochierarchy")
        .with_columns(parent=lambda r: sd.when(r.lochierarchy == 0).then(r.i_category).otherwise(None))
        .with_columns(
            rank_within_parent=f.rank().over(
                partition_by=["lochierarchy", "parent"], order_by=sd.asc("gross_margin", nulls="last")
            )
        )
        .sort(sd.desc("lochierarchy", nulls="first"), "parent", "rank_within_parent")
        .fetch(100)
        .select("gross_margin", "i_category", "i_class", "lochierarchy", "rank_within_parent")
    )


def _buyers(sales: Sales, sold: str, who: str) -> sd.Relation:
    """Who bought on which day of the year 2000."""
    return (
        sales.join(year_2000, on=lambda s, d: s[sold] == d.d_date_sk)
        .join(customer, on=lambda s, c: s[who] == c.c_customer_sk)
        .select("c_last_name", "c_first_name", "d_date")
        .distinct()
    )


def q40() -> sd.Relation:
    """Sales of items of one range of prices, less refunds, before and after a day."""
    day, nothing = date(2000, 3, 11), Decimal("0.00")
    around = date_dim.filter(lambda d: d.d_date.between(date(2000, 2, 10), date(2000, 4, 10)))
    cheap = item.filter(lambda i: i.i_current_price.between(Decimal("0.99"), Decimal("1.49")))
    return (
        catalog_sales.join(
            catalog_returns,
            on=lambda s, r: (s.cs_order_number == r.cr_order_number) & (s.cs_item_sk == r.cr_item_sk),
            how="left",
        )
        .join(warehouse, on=lambda s, w: s.cs_warehouse_sk == w.w_warehouse_sk)
        .join(cheap, on=lambda s, i: s.cs_item_sk == i.i_item_sk)
        .join(around, on=lambda s, d: s.cs_sold_date_sk == d.d_date_sk)
        .with_columns(kept=lambda r: r.cs_sales_price - f.coalesce(r.cr_refunded_cash, nothing))
        .group_by("w_state", "i_item_id")
        .agg(
            sales_before=lambda r: f.sum(sd.when(r.d_date < day).then(r.kept).otherwise(nothing)),
            sales_after=lambda r: f.sum(sd.when(r.d_date >= day).then(r.kept).otherwise(nothing)),
        )
        .sort(sd.asc("w_state", nulls="last"), sd.asc("i_item_id", nulls="last"))
        .fetch(100)
    )


def q43() -> sd.Relation:
    """The sales of each store on each day of the week."""
    days = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
    names = {f"{day[:3].lower()}_sales": day for day in days}
    return (
        date_dim.filter(lambda d: d.d_year == 2000)
        .join(store_sales, on=lambda d, s: d.d_date_sk == s.ss_sold_date_sk)
        .join(store.filter(lambda t: t.s_gmt_offset == -5), on=lambda s, t: s.ss_store_sk == t.s_store_sk)
        .group_by("s_store_name", "s_store_id")
        .pivot("d_day_name", names, lambda s: f.sum(s.ss_sales_price))
        .sort(*(sd.asc(name, nulls="last") for name in ("s_store_name", "s_store_id", *names)))
        .fetch(100)
    )


def q44(store_key: int = 4) -> sd.Relation:
    """The items of a store with the ten highest and the ten lowest average profits, side by side."""
    of_store = store_sales.filter(lambda s: s.ss_store_sk == store_key)
    without_address = of_store.filter(lambda s: s.ss_addr_sk.is_null())
    least = without_address.aggregate(least=lambda s: f.avg(s.ss_net_profit) * Decimal("0.9"))
    profits = (
        of_store.group_by(item_sk="ss_item_sk")
        .agg(profit=lambda s: f.avg(s.ss_net_profit))
        .filter(lambda s: s.profit.cast("decimal<38,3>?") > sd.scalar_subquery(least))
    )

    def ranked(order: sd.SortKey, name: str) -> sd.Relation:
        ranks = profits.with_columns(rnk=f.rank().over(order_by=order)).filter(lambda r: r.rnk < 11)
        return ranks.join(item, on=lambda r, i: r.item_sk == i.i_item_sk).select("rnk", **{name: "i_product_name"})

    best = ranked(sd.asc("profit", nulls="last"), "best_performing")
    worst = ranked(sd.desc("profit", nulls="first"), "worst_performing")
    return best.join(worst, using="rnk").sort("rnk").fetch(100)


def q51() -> sd.Relation:
    """Days on which an item had brought in more on the web than in stores since the beginning of the year 2000."""

    def so_far(sales: Sales, what: str, sold: str, price: str, name: str) -> sd.Relation:
        return (
            sales.filter(lambda s: s[what].is_not_null())
            .join(year_2000, on=lambda s, d: s[sold] == d.d_date_sk)
            .group_by("d_date", item_sk=what)
            .agg(day_sales=lambda s: f.sum(s[price]))
            .select(
                "item_sk",
                "d_date",
                **{name: f.sum(sd.col("day_sales")).over(partition_by="item_sk", order_by="d_date", rows=SO_FAR)},
            )
        )

    web = so_far(web_sales, "ws_item_sk", "ws_sold_date_sk", "ws_sales_price", "web_sales")
    stores = so_far(store_sales, "ss_item_sk", "ss_sold_date_sk", "ss_sales_price", "store_sales")

    def highest(column: str) -> sd.Expr[Any]:
        return f.max(sd.col(column)).over(partition_by="item_sk", order_by="d_date", rows=SO_FAR)

    return (
        web.join(stores, using=["item_sk", "d_date"], how="outer")
        .with_columns(web_cumulative=highest("web_sales"), store_cumulative=highest("store_sales"))
        .filter(lambda r: r.web_cumulative > r.store_cumulative)
        .sort("item_sk", "d_date")
        .fetch(100)
    )


def q63() -> sd.Relation:
    """Managers' months whose sales are more than a tenth away from the average of their months."""
    at_home = item.filter(
        lambda i: (
            (
                i.i_category.is_in(["Books", "Children", "Electronics"])
                & i.i_class.is_in(["personal", "portable", "reference", "self-help"])
                & i.i_brand.is_in(
                    ["scholaramalgamalg #14", "scholaramalgamalg #7", "exportiunivamalg #9", "scholaramalgamalg #9"]
                )
            )
            | (
                i.i_category.is_in(["Women", "Music", "Men"])
                & i.i_class.is_in(["accessories", "classical", "fragrances", "pants"])
                & i.i_brand.is_in(["amalgimporto #1", "edu packscholar #1", "exportiimporto #1", "importoamalg #1"])
            )
        )
    )
    return (
        at_home.join(store_sales, on=lambda i, s: i.i_item_sk == s.ss_item_sk)
        .join(year_2000, on=lambda s, d: s.ss_sold_date_sk == d.d_date_sk)
        .join(store, on=lambda s, t: s.ss_store_sk == t.s_store_sk)
        .group_by("i_manager_id", "d_moy")
        .agg(sum_sales=lambda s: f.sum(s.ss_sales_price))
        .select(
            "i_manager_id",
            "sum_sales",
            avg_monthly_sales=lambda r: f.avg(r.sum_sales).over(partition_by="i_manager_id"),
        )
        .filter(
            lambda r: r.avg_monthly_sales > 0,
            lambda r: f.abs(r.sum_sales - r.avg_monthly_sales) / r.avg_monthly_sales > Decimal("0.1"),
        )
        .sort(*(sd.asc(name, nulls="last") for name in ("i_manager_id", "avg_monthly_sales", "sum_sales")))
        .fetch(100)
    )


def q67() -> sd.Relation:
    """The hundred largest sales of each category, among all subtotals from categories down to stores and months."""
    keys = ("i_category", "i_class", "i_brand", "i_product_name", "d_year", "d_qoy", "d_moy", "s_store_id")
    ranks = f.rank().over(partition_by="i_category", order_by=sd.desc("sumsales", nulls="last"))
    return (
        store_sales.join(year_2000, on=lambda s, d: s.ss_sold_date_sk == d.d_date_sk)
        .join(store, on=lambda s, t: s.ss_store_sk == t.s_store_sk)
        .join(item, on=lambda s, i: s.ss_item_sk == i.i_item_sk)
        .with_columns(amount=lambda s: s.ss_sales_price * s.ss_quantity)
        .group_by(*keys)
        .rollup(sumsales=lambda s: f.sum(f.coalesce(s.amount, 0)))
        .drop("grouping_set")
        .with_columns(rk=ranks)
        .filter(lambda r: r.rk <= 100)
        .sort(*keys, "sumsales", "rk")
        .fetch(100)
    )


def q87() -> sd.Relation:
    """How many customers bought in a store on a day, and in no other channel on that day."""
    in_store = _buyers(store_sales, "ss_sold_date_sk", "ss_customer_sk")
    by_catalog = _buyers(catalog_sales, "cs_sold_date_sk", "cs_bill_customer_sk")
    on_the_web = _buyers(web_sales, "ws_sold_date_sk", "ws_bill_customer_sk")
    return in_store.subtract(by_catalog, on_the_web).aggregate(number=f.count())


QUERIES: dict[str, Callable[[], sd.Relation]] = {
    "q09": q09,
    "q14": q14,
    "q33": q33,
    "q35": q35,
    "q36": q36,
    "q40": q40,
    "q43": q43,
    "q44": q44,
    "q51": q51,
    "q63": q63,
    "q67": q67,
    "q87": q87,
}
