"""Comprehensions over constants, and the columns of a relation under a name of their own."""

from __future__ import annotations

import substrait_dsl as sd
from tests.typing.plugin.tables import orders

NAMES = ("weight", "wieght")
KINDS = {"id": sd.I64, "wieght": sd.FP64}

orders.select(**{name: sd.col(name) for name in NAMES})
# E: select, column "wieght": there is no column "wieght"; there are "id", "customer", "price", "weight", "day", "open",
#    "rank", "comment"; did you mean "weight"?  [substrait-unknown-field]
orders.select(*[sd.col(name) for name in NAMES if name != "weight"])
# E: select: there is no column "wieght"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "weight"?  [substrait-unknown-field]
orders.select(*(f"{name}" for name in NAMES))
# E: select: there is no column "wieght"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "weight"?  [substrait-unknown-field]
orders.select(**{name: sd.col(name).cast(kind) for name, kind in KINDS.items()})
# E: select, column "wieght": there is no column "wieght"; there are "id", "customer", "price", "weight", "day", "open",
#    "rank", "comment"; did you mean "weight"?  [substrait-unknown-field]
c = orders.c
orders.filter(c.weight > 1.0).select(c.id)
# E: select: column "id" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
