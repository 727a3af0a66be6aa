"""The eight tables of TPC-H, with the types that `tpchgen-cli` writes them in. All columns are required."""

from __future__ import annotations

from typing import Literal as L

import substrait_dsl as sd

Amount = sd.Decimal[L[15], L[2]]


class Region(sd.Schema):
    r_regionkey: sd.I64
    r_name: sd.String
    r_comment: sd.String


class Nation(sd.Schema):
    n_nationkey: sd.I64
    n_name: sd.String
    n_regionkey: sd.I64
    n_comment: sd.String


class Supplier(sd.Schema):
    s_suppkey: sd.I64
    s_name: sd.String
    s_address: sd.String
    s_nationkey: sd.I64
    s_phone: sd.String
    s_acctbal: Amount
    s_comment: sd.String


class Customer(sd.Schema):
    c_custkey: sd.I64
    c_name: sd.String
    c_address: sd.String
    c_nationkey: sd.I64
    c_phone: sd.String
    c_acctbal: Amount
    c_mktsegment: sd.String
    c_comment: sd.String


class Part(sd.Schema):
    p_partkey: sd.I64
    p_name: sd.String
    p_mfgr: sd.String
    p_brand: sd.String
    p_type: sd.String
    p_size: sd.I32
    p_container: sd.String
    p_retailprice: Amount
    p_comment: sd.String


class PartSupp(sd.Schema):
    ps_partkey: sd.I64
    ps_suppkey: sd.I64
    ps_availqty: sd.I32
    ps_supplycost: Amount
    ps_comment: sd.String


class Orders(sd.Schema):
    o_orderkey: sd.I64
    o_custkey: sd.I64
    o_orderstatus: sd.String
    o_totalprice: Amount
    o_orderdate: sd.Date
    o_orderpriority: sd.String
    o_clerk: sd.String
    o_shippriority: sd.I32
    o_comment: sd.String


class Lineitem(sd.Schema):
    l_orderkey: sd.I64
    l_partkey: sd.I64
    l_suppkey: sd.I64
    l_linenumber: sd.I32
    l_quantity: Amount
    l_extendedprice: Amount
    l_discount: Amount
    l_tax: Amount
    l_returnflag: sd.String
    l_linestatus: sd.String
    l_shipdate: sd.Date
    l_commitdate: sd.Date
    l_receiptdate: sd.Date
    l_shipinstruct: sd.String
    l_shipmode: sd.String
    l_comment: sd.String


region = sd.read_named("region", Region)
nation = sd.read_named("nation", Nation)
supplier = sd.read_named("supplier", Supplier)
customer = sd.read_named("customer", Customer)
part = sd.read_named("part", Part)
partsupp = sd.read_named("partsupp", PartSupp)
orders = sd.read_named("orders", Orders)
lineitem = sd.read_named("lineitem", Lineitem)

TABLES: dict[str, sd.Relation[sd.Schema]] = {
    "region": region,
    "nation": nation,
    "supplier": supplier,
    "customer": customer,
    "part": part,
    "partsupp": partsupp,
    "orders": orders,
    "lineitem": lineitem,
}
