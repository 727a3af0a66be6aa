"""The context of one execution."""

from __future__ import annotations

import re
import uuid
from collections.abc import Hashable, Mapping, Set
from itertools import count
from typing import TYPE_CHECKING, Any

from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.versions import Capability, has

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.catalog.text_records import ReaderRestrictions
    from substrait_dsl.spark.sources.arrow_tables import ArrowTables

VIEW_PREFIX = "__substrait_dsl_"
"""The prefix of the temporary views at which long plans are cut."""

_FRAME = re.compile(r"`[^`]*`|'[^']*'|\b(__frame\d+__)\b")
"""The name of a registered DataFrame, or a quoted stretch, in which the same letters are a user's.

A quote inside of quotes is doubled in names, which gives two stretches; in strings the lowering writes none.
"""


class ExecutionContext:
    """The context of one execution: the session, the generator of names, and DataFrames that SQL text refers to."""

    has_session = True
    """Whether there is a session; `preflight` has none."""

    def __init__(self, spark: SparkSession, arrow_tables: ArrowTables, *, persist_shared: bool = False) -> None:
        self.spark = spark
        self.arrow_tables = arrow_tables
        """The tables of this execution, which take precedence over the session's."""
        self.is_remote = is_remote(spark)
        self.persist_shared = persist_shared
        self._shared: list[DataFrame] = []
        self._numbers = count()
        self._frames: dict[str, DataFrame] = {}
        self.tables: dict[tuple[str, ...], StructType] = {}
        """The columns of named tables, looked up once per execution."""
        self.restrictions: dict[tuple[str, ...], ReaderRestrictions] = {}
        """What must not be pushed down to the readers of named tables."""
        self.sources: dict[Hashable, tuple[DataFrame, tuple[str, ...]]] = {}
        """Files and snapshots with the names of their declared columns, by the source and the base schema."""
        self.used: Mapping[int, Set[int]] = {}
        """The positions of each relation's output that the plan uses, by its id; all for other relations."""
        self.joined_groups: Set[int] = frozenset()
        """The ids of the groups that are joined, and grouped again."""
        self.is_rehearsal = False
        """Whether the execution only finds refusals: nothing is changed, and no rows are computed."""

    def child(self) -> ExecutionContext:
        """Return a context for a part of the plan that is lowered separately, with different generated names."""
        other = ExecutionContext(self.spark, self.arrow_tables, persist_shared=self.persist_shared)
        other._numbers = self._numbers
        other._shared = self._shared
        other.is_rehearsal = self.is_rehearsal
        return other

    def rehearsal(self) -> ExecutionContext:
        """Return a context for a rehearsal of the plan, which persists nothing."""
        other = self.child()
        other._shared = []
        other.is_rehearsal = True
        return other

    def has(self, capability: Capability) -> bool:
        """Whether the session has a capability that not all versions of Spark have."""
        return has(self.spark, capability)

    def name(self) -> str:
        """Return a new unique name."""
        return f"__s{next(self._numbers)}"

    def names(self, how_many: int) -> tuple[str, ...]:
        """Return new unique names."""
        return tuple(self.name() for _ in range(how_many))

    def register_frame(self, frame: DataFrame) -> str:
        """Register a DataFrame, and return the name by which SQL text refers to it.

        pyspark creates a view of it, and drops the view; then Spark uncaches all DataFrames with the same plan. So a
        filter that is always true is added, which distinguishes it from a DataFrame that the user has cached.
        """
        name = f"__frame{len(self._frames)}__"
        self._frames[name] = frame.where("true")
        return name

    def as_view(self, frame: DataFrame) -> DataFrame:
        """Return the same rows as a plan of one step: a view, which Spark has analysed already."""
        name = f"{VIEW_PREFIX}{uuid.uuid4().hex}"
        frame.createTempView(name)
        return self.spark.table(name)

    def persist_later(self, frame: DataFrame) -> None:
        """Persist a DataFrame at the end of the execution."""
        self._shared.append(frame)

    def leave_unpersisted(self, frame: DataFrame) -> None:
        """Do not persist a DataFrame at the end."""
        self._shared[:] = [other for other in self._shared if other is not frame]

    def persist(self) -> None:
        """Persist the DataFrames that were noted: only at the end, since a failed execution persists nothing."""
        for frame in self._shared:
            frame.persist()

    def registered_frames(self, text: str) -> dict[str, DataFrame]:
        """Return the registered DataFrames to which a text refers."""
        if "__frame" not in text:  # most have none, and this is asked of every step
            return {}
        return {found[1]: self._frames[found[1]] for found in _FRAME.finditer(text) if found[1]}

    def sql(self, text: str) -> DataFrame:
        """Run a query that may refer to registered DataFrames."""
        frames: dict[str, Any] = dict(self.registered_frames(text))
        if frames:  # only then does Spark format the text, and braces must be doubled
            text = text.replace("{", "{{").replace("}", "}}")
            text = _FRAME.sub(lambda found: f"{{{found[0]}}}" if found[1] else found[0], text)
        return self.spark.sql(text, args={}, **frames)  # without any, it asks Java for an empty array of them
