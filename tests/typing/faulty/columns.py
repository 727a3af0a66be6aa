"""Mistakes with columns, types and schema classes."""

# ruff: noqa: B018  # the expressions are there for a type checker to read

from typing import Literal as L

import substrait_dsl as sd
from tests.typing.tables import Customers, Orders


def columns(o: Orders) -> None:
    o.o_orderky  # E: a misspelt column
    Orders.o_orderky  # E: the same on the class
    sd.read_named("orders", Orders).c.o_orderky  # E: the same by relation
    o.c_name  # E: a column of another table
    o.o_orderkey.contains("x")  # E: a method that expressions do not have
    o.o_orderkey.cast(int)  # E: a Python type is no Substrait type
    o.o_orderkey.cast(sd.String, on_failure="ignore")  # E: an unknown failure behaviour
    o.o_orderkey.asc(nulls="middle")  # E: an unknown null placement
    o.o_orderkey.is_in(["x"])  # E: options of another type
    o.o_comment.between(1, 2)  # E: bounds of another type
    o.o_orderkey.between("a", o.o_custkey)  # E: a bound of another type


sd.Decimal(39, 2)  # E: more than 38 digits
sd.Decimal(15)  # E: a decimal needs a scale
sd.FixedChar("10")  # E: a length is an int
sd.PrecisionTimestamp(13)  # E: at most 12 digits after the second
sd.List(sd.String)  # E: a type's value holds values of types: String()


class Prices(sd.Schema):
    amount: sd.Decimal[15, 2]  # E: numbers in annotations must be literal types
    big: sd.Decimal[L[39], L[2]]  # E: more than 38 digits
    key: sd.Nullable[int]  # E: a Python type is no Substrait type


class Out(sd.Schema):
    key: sd.I64
    name: sd.Nullable[sd.String]


def out(o: Orders, c: Customers) -> None:
    Out(key=o.o_orderkey)  # E: a column is missing
    Out(key=o.o_orderkey, name=o.o_comment, more=o.o_rank)  # E: a column too many
    Out(key=o.o_rank, name=o.o_comment)  # E: nullable into required
    Out(key=o.o_priority, name=o.o_comment)  # E: i32 into i64
    Out(key=o.o_orderkey, name=c.c_segment)  # E: fixedchar into string
    Out(key=1, name=o.o_comment)  # E: a Python value has no type of its own: lit(1, I64)
    Out(o.o_orderkey, o.o_comment)  # E: columns are given by name
