"""Comprehensions over constants, and the columns of a relation under a name of their own."""

from __future__ import annotations

import substrait_dsl as sd
from tests.typing.plugin.tables import orders

NAMES = ("weight", "id")
KINDS = {"id": sd.I64, "weight": sd.FP64}

sd.reveal_schema(orders.select(**{f"{name}_": sd.col(name) for name in NAMES}))
# N: Schema is weight_: fp64, id_: i64
sd.reveal_schema(orders.select(*[name for name in NAMES if name != "id"]))
# N: Schema is weight: fp64
sd.reveal_schema(orders.select(**{name: sd.col(name).cast(kind) for name, kind in KINDS.items()}))
# N: Schema is id: i64, weight: fp64
sd.reveal_schema(orders.select(**{name: (lambda o, n=name: o[n]) for name in NAMES}))
# N: Schema is weight: fp64, id: i64
c = orders.c
orders.filter((c.weight > 1.0) & (c.id == 1)).select(lambda o: o.id)
