"""TPC-H queries 12 to 22, with the validation parameters of the specification."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import substrait_dsl as sd
from examples.tpch.common import discounted_price, within
from examples.tpch.schemas import Lineitem, PartSupp, customer, lineitem, nation, orders, part, partsupp, supplier
from substrait_dsl import functions as f

# avg keeps the scale of its argument. Where a row is compared with an average, the argument gets digits enough for the
# rounding of the average not to decide.
Precise = sd.Decimal(38, 12)


def q12() -> sd.Relation:
    """Shipping modes and order priority."""
    delayed = lineitem.filter(
        lambda line: line.l_shipmode.is_in(["MAIL", "SHIP"]),
        lambda line: line.l_commitdate < line.l_receiptdate,
        lambda line: line.l_shipdate < line.l_commitdate,
        lambda line: within(line.l_receiptdate, date(1994, 1, 1), date(1995, 1, 1)),
    )
    return (
        orders.join(delayed, on=lambda o, line: o.o_orderkey == line.l_orderkey)
        .select("l_shipmode", urgent=lambda r: r.o_orderpriority.is_in(["1-URGENT", "2-HIGH"]))
        .group_by("l_shipmode")
        .agg(
            high_line_count=lambda r: f.sum(sd.when(r.urgent).then(1).otherwise(0)),
            low_line_count=lambda r: f.sum(sd.when(r.urgent).then(0).otherwise(1)),
        )
        .sort("l_shipmode")
    )


def q13() -> sd.Relation:
    """Customer distribution."""
    ordinary = orders.filter(lambda o: ~f.like(o.o_comment, "%special%requests%"))
    return (
        customer.join(ordinary, on=lambda c, o: c.c_custkey == o.o_custkey, how="left")
        .group_by("c_custkey")
        .agg(c_count=lambda r: f.count(r.o_orderkey))
        .group_by("c_count")
        .agg(custdist=f.count())
        .sort(sd.desc("custdist"), sd.desc("c_count"))
    )


def q14() -> sd.Relation:
    """Promotion effect."""
    month = lineitem.filter(lambda line: within(line.l_shipdate, date(1995, 9, 1), date(1995, 10, 1)))
    return (
        month.join(part, on=lambda line, p: line.l_partkey == p.p_partkey)
        .aggregate(
            promotion=lambda r: f.sum(sd.when(f.like(r.p_type, "PROMO%")).then(discounted_price(r)).otherwise(0)),
            total=lambda r: f.sum(discounted_price(r)),
        )
        .select(promo_revenue=lambda r: Decimal("100.00") * r.promotion / r.total)
    )


def q15() -> sd.Relation:
    """Top supplier."""
    quarter = lineitem.filter(lambda line: within(line.l_shipdate, date(1996, 1, 1), date(1996, 4, 1)))
    revenue = quarter.group_by(lambda line: line.l_suppkey.alias("supplier_no")).agg(
        total_revenue=lambda line: f.sum(discounted_price(line))
    )
    highest = revenue.aggregate(highest=lambda r: f.max(r.total_revenue))
    return (
        supplier.join(revenue, on=lambda s, r: s.s_suppkey == r.supplier_no)
        .filter(lambda r: r.total_revenue == sd.scalar_subquery(highest))
        .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
        .sort("s_suppkey")
    )


def q16() -> sd.Relation:
    """Parts/supplier relationship."""
    complained_about = supplier.filter(lambda s: f.like(s.s_comment, "%Customer%Complaints%")).select("s_suppkey")
    wanted = part.filter(
        lambda p: p.p_brand != "Brand#45",
        lambda p: ~f.like(p.p_type, "MEDIUM POLISHED%"),
        lambda p: p.p_size.is_in([49, 14, 23, 45, 19, 3, 36, 9]),
    )
    return (
        partsupp.filter(lambda offer: ~offer.ps_suppkey.is_in(complained_about))
        .join(wanted, on=lambda offer, p: offer.ps_partkey == p.p_partkey)
        .group_by("p_brand", "p_type", "p_size")
        .agg(supplier_cnt=lambda r: f.count(r.ps_suppkey).distinct())
        .sort(sd.desc("supplier_cnt"), "p_brand", "p_type", "p_size")
    )


def q17() -> sd.Relation:
    """Small-quantity-order revenue."""

    def small_quantity(p: sd.DynRow) -> sd.DynExpr:
        sales = lineitem.filter(lambda line: line.l_partkey == p.p_partkey)
        average = sales.aggregate(quantity=lambda line: f.avg(line.l_quantity.cast(Precise)))
        return sd.scalar_subquery(average.select(fifth=lambda a: (Decimal("0.2") * a.quantity).cast(Precise)))

    return (
        lineitem.join(
            part.filter(lambda p: (p.p_brand == "Brand#23") & (p.p_container == "MED BOX")),
            on=lambda line, p: line.l_partkey == p.p_partkey,
        )
        .filter(lambda r: r.l_quantity < small_quantity(r))
        .aggregate(total=lambda r: f.sum(r.l_extendedprice))
        .select(avg_yearly=lambda r: r.total / Decimal("7.0"))
    )


def q18() -> sd.Relation:
    """Large volume customer."""
    large_orders = (
        lineitem.group_by("l_orderkey")
        .agg(quantity=lambda line: f.sum(line.l_quantity))
        .filter(lambda o: o.quantity > 300)
        .select("l_orderkey")
    )
    return (
        customer.join(
            orders.filter(lambda o: o.o_orderkey.is_in(large_orders)), on=lambda c, o: c.c_custkey == o.o_custkey
        )
        .join(lineitem, on=lambda o, line: o.o_orderkey == line.l_orderkey)
        .group_by("c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice")
        .agg(sum_quantity=lambda r: f.sum(r.l_quantity))
        .sort(sd.desc("o_totalprice"), "o_orderdate")
        .fetch(100)
    )


def q19() -> sd.Relation:
    """Discounted revenue."""
    delivered = lineitem.filter(
        lambda line: line.l_shipmode.is_in(["AIR", "AIR REG"]),
        lambda line: line.l_shipinstruct == "DELIVER IN PERSON",
    )

    def fits(r: sd.DynRow, brand: str, containers: list[str], least_quantity: int, size: int) -> sd.Expr[sd.Boolean]:
        return (
            (r.p_brand == brand)
            & r.p_container.is_in(containers)
            & r.l_quantity.between(least_quantity, least_quantity + 10)
            & r.p_size.between(1, size)
        )

    return (
        delivered.join(part, on=lambda line, p: line.l_partkey == p.p_partkey)
        .filter(
            lambda r: (
                fits(r, "Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], least_quantity=1, size=5)
                | fits(r, "Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], least_quantity=10, size=10)
                | fits(r, "Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], least_quantity=20, size=15)
            )
        )
        .aggregate(revenue=lambda r: f.sum(discounted_price(r)))
    )


def q20() -> sd.Relation:
    """Potential part promotion."""
    forest_parts = part.filter(lambda p: f.like(p.p_name, "forest%")).select("p_partkey")
    year_1994 = lineitem.filter(lambda line: within(line.l_shipdate, date(1994, 1, 1), date(1995, 1, 1)))

    def half_of_the_shipped(offer: PartSupp) -> sd.DynExpr:
        shipped = year_1994.filter(
            lambda line: (line.l_partkey == offer.ps_partkey) & (line.l_suppkey == offer.ps_suppkey)
        ).aggregate(quantity=lambda line: f.sum(line.l_quantity))
        return sd.scalar_subquery(shipped.select(half=lambda s: Decimal("0.5") * s.quantity))

    excess = (
        partsupp.filter(lambda offer: offer.ps_partkey.is_in(forest_parts))
        .filter(lambda offer: offer.ps_availqty > half_of_the_shipped(offer))
        .select("ps_suppkey")
    )
    return (
        supplier.filter(lambda s: s.s_suppkey.is_in(excess))
        .join(nation.filter(lambda n: n.n_name == "CANADA"), on=lambda s, n: s.s_nationkey == n.n_nationkey)
        .select("s_name", "s_address")
        .sort("s_name")
    )


def q21() -> sd.Relation:
    """Suppliers who kept orders waiting."""
    late = lineitem.filter(lambda line: line.l_receiptdate > line.l_commitdate)

    def of_another_supplier(lines: sd.Relation[Lineitem], waiting: sd.DynRow) -> sd.Relation[Lineitem]:
        return lines.filter(
            lambda line: (line.l_orderkey == waiting.l_orderkey) & (line.l_suppkey != waiting.l_suppkey)
        )

    return (
        supplier.join(late, on=lambda s, line: s.s_suppkey == line.l_suppkey)
        .join(orders.filter(lambda o: o.o_orderstatus == "F"), on=lambda line, o: line.l_orderkey == o.o_orderkey)
        .join(nation.filter(lambda n: n.n_name == "SAUDI ARABIA"), on=lambda s, n: s.s_nationkey == n.n_nationkey)
        .filter(lambda r: sd.exists(of_another_supplier(lineitem, r)) & ~sd.exists(of_another_supplier(late, r)))
        .group_by("s_name")
        .agg(numwait=f.count())
        .sort(sd.desc("numwait"), "s_name")
        .fetch(100)
    )


def q22() -> sd.Relation:
    """Global sales opportunity."""
    candidates = customer.select("c_custkey", "c_acctbal", cntrycode=lambda c: f.substring(c.c_phone, 1, 2)).filter(
        lambda c: c.cntrycode.is_in(["13", "31", "23", "29", "30", "18", "17"])
    )
    average = candidates.filter(lambda c: c.c_acctbal > 0).aggregate(balance=lambda c: f.avg(c.c_acctbal.cast(Precise)))
    return (
        candidates.filter(
            lambda c: c.c_acctbal > sd.scalar_subquery(average),
            lambda c: ~sd.exists(orders.filter(lambda o: o.o_custkey == c.c_custkey)),
        )
        .group_by("cntrycode")
        .agg(numcust=f.count(), totacctbal=lambda c: f.sum(c.c_acctbal))
        .sort("cntrycode")
    )
