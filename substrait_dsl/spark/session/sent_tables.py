"""Rows that were sent to a server once, as temporary views, which are dropped when nothing refers to them any more."""

from __future__ import annotations

import uuid
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from substrait_dsl.spark.session.execution_context import VIEW_PREFIX
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNUSED: WeakKeyDictionary[SparkSession, deque[str]] = WeakKeyDictionary()
"""The views of each session without a reference. They are dropped with the next request: the finalizer may run in the
middle of any code, where a client cannot send one."""


def frame_over_views(parts: Sequence[DataFrame], spark: SparkSession) -> DataFrame:
    """Create views of some DataFrames of rows, and a DataFrame of all of them.

    Args:
        parts: the DataFrames, of the same columns; at least one.
        spark: the session, a client.

    Returns:
        The rows. The views live as long as it does, and what was made of it.
    """
    drop_unused(spark)
    unused = _UNUSED.setdefault(spark, deque())
    frames = []
    for part in parts:
        name = f"{VIEW_PREFIX}{uuid.uuid4().hex}"
        part.createTempView(name)
        frames.append(spark.table(name))
        plan: Any = getattr(frames[-1], "_plan", frames[-1])  # all DataFrames derived from this one refer to it
        weakref.finalize(plan, unused.append, name).atexit = False
    while len(frames) > 1:  # by pairs, so that no plan is as deep as there are parts
        left, right = frames[::2], frames[1::2]
        last = left[len(right) :]
        frames = [one.unionAll(other) for one, other in zip(left, right, strict=False)] + last
    return frames[0]


def drop_unused(spark: SparkSession) -> None:
    """Drop the views of a session that nothing refers to any more."""
    unused = _UNUSED.get(spark, deque())
    while unused:
        with suppress(*spark_errors()):
            spark.catalog.dropTempView(unused.popleft())
