"""What depends on a class that no type in this module names: the fields of a struct inside a schema."""

from decimal import Decimal

import base

import substrait_dsl as sd


def inside_struct() -> None:
    base.load().filter(sd.col("home")["city"] == "Leeds")


def of_alias() -> None:
    base.load().filter(sd.col("price") > Decimal("1.50"))
