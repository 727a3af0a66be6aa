"""TPC-H queries 1 to 11, with the validation parameters of the specification."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from examples.tpch.common import discounted_price, within
from examples.tpch.schemas import customer, lineitem, nation, orders, part, partsupp, region, supplier
from substrait_dsl import functions as f


def q01() -> sd.Relation:
    """Pricing summary report."""
    return (
        lineitem.filter(lambda line: line.l_shipdate <= date(1998, 9, 2))
        .with_columns(disc_price=discounted_price)
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=lambda line: f.sum(line.l_quantity),
            sum_base_price=lambda line: f.sum(line.l_extendedprice),
            sum_disc_price=lambda line: f.sum(line.disc_price),
            sum_charge=lambda line: f.sum(line.disc_price * (1 + line.l_tax)),
            avg_qty=lambda line: f.avg(line.l_quantity),
            avg_price=lambda line: f.avg(line.l_extendedprice),
            avg_disc=lambda line: f.avg(line.l_discount),
            count_order=f.count(),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def q02() -> sd.Relation:
    """Minimum cost supplier."""
    europe = region.filter(lambda r: r.r_name == "EUROPE")

    def from_europe(offers: sd.Relation[Any]) -> sd.Relation:
        return (
            offers.join(supplier, on=lambda offer, s: offer.ps_suppkey == s.s_suppkey)
            .join(nation, on=lambda s, n: s.s_nationkey == n.n_nationkey)
            .join(europe, on=lambda n, r: n.n_regionkey == r.r_regionkey)
        )

    def lowest_cost(p: sd.DynRow) -> sd.DynExpr:
        offers = from_europe(partsupp).filter(lambda offer: offer.ps_partkey == p.p_partkey)
        return sd.scalar_subquery(offers.aggregate(lowest=lambda offer: f.min(offer.ps_supplycost)))

    brass = part.filter(lambda p: (p.p_size == 15) & f.like(p.p_type, "%BRASS"))
    return (
        from_europe(brass.join(partsupp, on=lambda p, offer: p.p_partkey == offer.ps_partkey))
        .filter(lambda r: r.ps_supplycost == lowest_cost(r))
        .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
        .sort(sd.desc("s_acctbal"), "n_name", "s_name", "p_partkey")
        .fetch(100)
    )


def q03() -> sd.Relation:
    """Shipping priority."""
    day = date(1995, 3, 15)
    return (
        customer.filter(lambda c: c.c_mktsegment == "BUILDING")
        .join(orders.filter(lambda o: o.o_orderdate < day), on=lambda c, o: c.c_custkey == o.o_custkey)
        .join(lineitem.filter(lambda line: line.l_shipdate > day), on=lambda o, line: o.o_orderkey == line.l_orderkey)
        .group_by("l_orderkey", "o_orderdate", "o_shippriority")
        .agg(revenue=lambda r: f.sum(discounted_price(r)))
        .select("l_orderkey", "revenue", "o_orderdate", "o_shippriority")
        .sort(sd.desc("revenue"), "o_orderdate")
        .fetch(10)
    )


def q04() -> sd.Relation:
    """Order priority checking."""
    late = lineitem.filter(lambda line: line.l_commitdate < line.l_receiptdate)
    return (
        orders.filter(lambda o: within(o.o_orderdate, date(1993, 7, 1), date(1993, 10, 1)))
        .filter(lambda o: sd.exists(late.filter(lambda line: line.l_orderkey == o.o_orderkey)))
        .group_by("o_orderpriority")
        .agg(order_count=f.count())
        .sort("o_orderpriority")
    )


def q05() -> sd.Relation:
    """Local supplier volume."""
    year_1994 = orders.filter(lambda o: within(o.o_orderdate, date(1994, 1, 1), date(1995, 1, 1)))
    return (
        customer.join(year_1994, on=lambda c, o: c.c_custkey == o.o_custkey)
        .join(lineitem, on=lambda o, line: o.o_orderkey == line.l_orderkey)
        .join(supplier, on=lambda r, s: (r.l_suppkey == s.s_suppkey) & (r.c_nationkey == s.s_nationkey))
        .join(nation, on=lambda r, n: r.s_nationkey == n.n_nationkey)
        .join(region.filter(lambda r: r.r_name == "ASIA"), on=lambda n, r: n.n_regionkey == r.r_regionkey)
        .group_by("n_name")
        .agg(revenue=lambda r: f.sum(discounted_price(r)))
        .sort(sd.desc("revenue"))
    )


def q06() -> sd.Relation:
    """Forecasting revenue change."""
    return lineitem.filter(
        lambda line: within(line.l_shipdate, date(1994, 1, 1), date(1995, 1, 1)),
        lambda line: line.l_discount.between(Decimal("0.05"), Decimal("0.07")),
        lambda line: line.l_quantity < 24,
    ).aggregate(revenue=lambda line: f.sum(line.l_extendedprice * line.l_discount))


def q07() -> sd.Relation:
    """Volume shipping."""
    two_years = lineitem.filter(lambda line: line.l_shipdate.between(date(1995, 1, 1), date(1996, 12, 31)))
    supplier_nation = nation.rename(n_name="supp_nation")
    customer_nation = nation.rename(n_name="cust_nation")
    return (
        supplier.join(two_years, on=lambda s, line: s.s_suppkey == line.l_suppkey)
        .join(orders, on=lambda line, o: line.l_orderkey == o.o_orderkey)
        .join(customer, on=lambda o, c: o.o_custkey == c.c_custkey)
        .join(supplier_nation, on=lambda s, n: s.s_nationkey == n.n_nationkey)
        .join(customer_nation, on=lambda c, n: c.c_nationkey == n.n_nationkey)
        .filter(
            lambda r: (
                ((r.supp_nation == "FRANCE") & (r.cust_nation == "GERMANY"))
                | ((r.supp_nation == "GERMANY") & (r.cust_nation == "FRANCE"))
            )
        )
        .select("supp_nation", "cust_nation", l_year=lambda r: f.extract("YEAR", r.l_shipdate), volume=discounted_price)
        .group_by("supp_nation", "cust_nation", "l_year")
        .agg(revenue=lambda r: f.sum(r.volume))
        .sort("supp_nation", "cust_nation", "l_year")
    )


def q08() -> sd.Relation:
    """National market share."""
    two_years = orders.filter(lambda o: o.o_orderdate.between(date(1995, 1, 1), date(1996, 12, 31)))
    america = region.filter(lambda r: r.r_name == "AMERICA")
    customer_nation = nation.select("n_nationkey", "n_regionkey")
    supplier_nation = nation.select("n_nationkey", "n_name")
    return (
        part.filter(lambda p: p.p_type == "ECONOMY ANODIZED STEEL")
        .join(lineitem, on=lambda p, line: p.p_partkey == line.l_partkey)
        .join(supplier, on=lambda line, s: line.l_suppkey == s.s_suppkey)
        .join(two_years, on=lambda line, o: line.l_orderkey == o.o_orderkey)
        .join(customer, on=lambda o, c: o.o_custkey == c.c_custkey)
        .join(customer_nation, on=lambda c, n: c.c_nationkey == n.n_nationkey)
        .join(america, on=lambda n, r: n.n_regionkey == r.r_regionkey)
        .join(supplier_nation, on=lambda s, n: s.s_nationkey == n.n_nationkey)
        .select(o_year=lambda r: f.extract("YEAR", r.o_orderdate), volume=discounted_price, nation=lambda r: r.n_name)
        .group_by("o_year")
        .agg(
            brazilian=lambda r: f.sum(sd.when(r.nation == "BRAZIL").then(r.volume).otherwise(0)),
            total=lambda r: f.sum(r.volume),
        )
        .select("o_year", mkt_share=lambda r: r.brazilian / r.total)
        .sort("o_year")
    )


def q09() -> sd.Relation:
    """Product type profit measure."""
    return (
        part.filter(lambda p: f.like(p.p_name, "%green%"))
        .join(lineitem, on=lambda p, line: p.p_partkey == line.l_partkey)
        .join(supplier, on=lambda line, s: line.l_suppkey == s.s_suppkey)
        .join(
            partsupp,
            on=lambda line, offer: (line.l_suppkey == offer.ps_suppkey) & (line.l_partkey == offer.ps_partkey),
        )
        .join(orders, on=lambda line, o: line.l_orderkey == o.o_orderkey)
        .join(nation, on=lambda r, n: r.s_nationkey == n.n_nationkey)
        .select(
            nation=lambda r: r.n_name,
            o_year=lambda r: f.extract("YEAR", r.o_orderdate),
            amount=lambda r: discounted_price(r) - r.ps_supplycost * r.l_quantity,
        )
        .group_by("nation", "o_year")
        .agg(sum_profit=lambda r: f.sum(r.amount))
        .sort("nation", sd.desc("o_year"))
    )


def q10() -> sd.Relation:
    """Returned item reporting."""
    quarter = orders.filter(lambda o: within(o.o_orderdate, date(1993, 10, 1), date(1994, 1, 1)))
    returned = lineitem.filter(lambda line: line.l_returnflag == "R")
    return (
        customer.join(quarter, on=lambda c, o: c.c_custkey == o.o_custkey)
        .join(returned, on=lambda o, line: o.o_orderkey == line.l_orderkey)
        .join(nation, on=lambda c, n: c.c_nationkey == n.n_nationkey)
        .group_by("c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment")
        .agg(revenue=lambda r: f.sum(discounted_price(r)))
        .select("c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")
        .sort(sd.desc("revenue"))
        .fetch(20)
    )


def q11() -> sd.Relation:
    """Important stock identification."""
    german_stock = (
        partsupp.join(supplier, on=lambda stock, s: stock.ps_suppkey == s.s_suppkey)
        .join(nation.filter(lambda n: n.n_name == "GERMANY"), on=lambda s, n: s.s_nationkey == n.n_nationkey)
        .select("ps_partkey", value=lambda r: r.ps_supplycost * r.ps_availqty)
    )
    total = german_stock.aggregate(value=lambda stock: f.sum(stock.value))
    threshold = total.select(threshold=lambda t: t.value * Decimal("0.0001"))
    return (
        german_stock.group_by("ps_partkey")
        .agg(value=lambda stock: f.sum(stock.value))
        .filter(lambda stock: stock.value.cast(sd.Decimal(38, 6)) > sd.scalar_subquery(threshold))
        .sort(sd.desc("value"))
    )
