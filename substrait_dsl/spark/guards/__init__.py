"""The guards against faults of Spark itself: one list, from which `docs/guards.md` is printed.

A guard is listed if Spark gives a wrong answer, loses a part of one, or fails where there is one. Where it merely lacks
something, or calls by a name of the specification what means something else, there is none: see `docs/spark.md`.
"""

from __future__ import annotations

from substrait_dsl.spark.guards.files import FILES
from substrait_dsl.spark.guards.queries import QUERIES
from substrait_dsl.spark.guards.values import VALUES
from substrait_dsl.spark.session.engines import Guard

GUARDS: tuple[Guard, ...] = (*QUERIES, *VALUES, *FILES)
"""Each guard, by what it is about."""
