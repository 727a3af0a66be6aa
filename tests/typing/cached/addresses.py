"""A schema class that stands inside another, and a name for a type."""

import substrait_dsl as sd
from substrait_dsl import L

Money = sd.Decimal[L[15], L[2]]


class Address(sd.Schema):
    city: sd.String
    zip: sd.I32
