"""The tables of the programs in this directory."""

from typing import Literal as L

import substrait_dsl as sd


class Address(sd.Schema):
    street: sd.String
    city: sd.Nullable[sd.String]


class Customers(sd.Schema):
    id: sd.I64
    name: sd.String
    address: sd.Struct[Address]
    tags: sd.List[sd.String]
    notes: sd.Map[sd.String, sd.I64]


class Orders(sd.Schema):
    id: sd.I64
    customer: sd.I64
    price: sd.Decimal[L[15], L[2]]
    weight: sd.FP64
    day: sd.Date
    open: sd.Boolean
    rank: sd.Nullable[sd.I32]
    comment: sd.Nullable[sd.String]


class Items(sd.Schema):
    order: sd.I64
    part: sd.I64
    quantity: sd.I32


class Parts(sd.Schema):
    part: sd.I64
    label: sd.String


customers = sd.read_named("customers", Customers)
orders = sd.read_named("orders", Orders)
items = sd.read_named("items", Items)
parts = sd.read_named("parts", Parts)
