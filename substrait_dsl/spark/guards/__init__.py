"""Guards against faults of Spark: one list, from which `docs/guards.md` is printed.

A guard is listed if Spark gives a wrong answer, loses a part of one, or fails where there is one. Where it only lacks
something, or gives a name of the specification another meaning, there is none: see `docs/spark/functions.md`.
"""

from __future__ import annotations

from substrait_dsl.spark.guards.files import FILES
from substrait_dsl.spark.guards.queries import QUERIES
from substrait_dsl.spark.guards.values import VALUES
from substrait_dsl.spark.session.engines import Guard

GUARDS: tuple[Guard, ...] = (*QUERIES, *VALUES, *FILES)
"""The guards by topic."""
