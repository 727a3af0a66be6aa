"""The tables of the programs in this directory."""

from typing import Literal as L

import substrait_dsl as sd


class Customers(sd.Schema):
    c_custkey: sd.I64
    c_name: sd.String
    c_segment: sd.FixedChar[L[10]]


class Orders(sd.Schema):
    o_orderkey: sd.I64
    o_custkey: sd.I64
    o_priority: sd.I32
    o_totalprice: sd.Decimal[L[15], L[2]]
    o_weight: sd.FP64
    o_orderdate: sd.Date
    o_taken: sd.PrecisionTimestamp[L[6]]
    o_open: sd.Boolean
    o_clerk: sd.VarChar[L[15]]
    o_tags: sd.List[sd.String]
    o_rank: sd.Nullable[sd.I64]
    o_comment: sd.Nullable[sd.String]


class Summary(sd.Schema):
    key: sd.I64
    total: sd.Nullable[sd.Decimal[L[38], L[2]]]
    comment: sd.Nullable[sd.String]
