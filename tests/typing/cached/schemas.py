"""Schema classes, one of which inherits its key."""

from addresses import Address, Money

import substrait_dsl as sd
from substrait_dsl import L


class Keyed(sd.Schema):
    key: sd.I64


class Orders(Keyed):
    price: Money
    day: sd.Date
    note: sd.Nullable[sd.String]
    home: sd.Struct[Address]


class Archive(sd.Schema):
    key: sd.I64
    price: sd.Decimal[L[15], L[2]]
    day: sd.Date
    note: sd.Nullable[sd.String]
    home: sd.Nullable[sd.Struct[Address]]


class Brief(sd.Schema):
    key: sd.I64
    price: sd.Decimal[L[15], L[2]]
