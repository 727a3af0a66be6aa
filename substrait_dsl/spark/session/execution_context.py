"""What the parts of one execution share."""

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
"""What the names of the temporary views begin with that cut long plans."""

_FRAME = re.compile(r"`[^`]*`|'[^']*'|\b(__frame\d+__)\b")
"""A name that stands for a DataFrame, or a stretch in quotes, where the same letters are a name or a text of a user's.

A quote inside of quotes is written twice in names, as two stretches; in texts the lowering writes none.
"""


class ExecutionContext:
    """What one execution shares: the session, the supply of names, and DataFrames that SQL text refers to."""

    has_session = True
    """Whether there is a session to ask; `preflight` has none."""

    def __init__(self, spark: SparkSession, given: ArrowTables, *, persist_shared: bool = False) -> None:
        self.spark = spark
        self.given = given
        """The tables of this execution alone, which stand before those of the session."""
        self.is_remote = is_remote(spark)
        self.persist_shared = persist_shared
        self._shared: list[DataFrame] = []
        self._numbers = count()
        self._frames: dict[str, DataFrame] = {}
        self.tables: dict[tuple[str, ...], StructType] = {}
        """The columns of named tables, looked up once in an execution however often text reads them."""
        self.restrictions: dict[tuple[str, ...], ReaderRestrictions] = {}
        """What is kept from the readers of named tables."""
        self.sources: dict[Hashable, tuple[DataFrame, tuple[str, ...]]] = {}
        """Files and snapshots with the names of the declared columns in them, by what was read and declared."""
        self.used: Mapping[int, Set[int]] = {}
        """The positions of the columns that the plan uses of each relation, by its id; of others, it uses all."""
        self.joined_groups: Set[int] = frozenset()
        """The groups that are joined, and grouped again, by their ids."""
        self.is_rehearsal = False
        """Whether only what can be refused is looked for: nothing is changed, and no rows are computed."""

    def child(self) -> ExecutionContext:
        """An execution context for a part of the plan that is lowered on its own: its names are none of this one's."""
        other = ExecutionContext(self.spark, self.given, persist_shared=self.persist_shared)
        other._numbers = self._numbers
        other._shared = self._shared
        other.is_rehearsal = self.is_rehearsal
        return other

    def rehearsal(self) -> ExecutionContext:
        """An execution context for a rehearsal of the plan, of which nothing is persisted."""
        other = self.child()
        other._shared = []
        other.is_rehearsal = True
        return other

    def has(self, capability: Capability) -> bool:
        """Whether the session has what not all versions of Spark have."""
        return has(self.spark, capability)

    def name(self) -> str:
        """A name that nothing else has."""
        return f"__s{next(self._numbers)}"

    def names(self, how_many: int) -> tuple[str, ...]:
        """As many names that nothing else has."""
        return tuple(self.name() for _ in range(how_many))

    def register_frame(self, frame: DataFrame) -> str:
        """A name by which SQL text can refer to a DataFrame.

        pyspark makes a view of it for that, and drops the view; and then Spark keeps the rows of no DataFrame any more
        that is the same. So this one has a filter more, which leaves out nothing, than what its user may have cached.
        """
        name = f"__frame{len(self._frames)}__"
        self._frames[name] = frame.where("true")
        return name

    def as_view(self, frame: DataFrame) -> DataFrame:
        """The same rows as a plan of one step: a view, which Spark has analysed and need not be told again."""
        name = f"{VIEW_PREFIX}{uuid.uuid4().hex}"
        frame.createTempView(name)
        return self.spark.table(name)

    def persist_later(self, frame: DataFrame) -> None:
        """Have a DataFrame persisted in the end."""
        self._shared.append(frame)

    def leave_unpersisted(self, frame: DataFrame) -> None:
        """Do not persist a DataFrame in the end."""
        self._shared[:] = [other for other in self._shared if other is not frame]

    def persist(self) -> None:
        """Persist what is to be kept: not before, for if anything fails nothing is to be."""
        for frame in self._shared:
            frame.persist()

    def registered_frames(self, text: str) -> dict[str, DataFrame]:
        """The DataFrames that a text refers to."""
        if "__frame" not in text:  # most have none, and this is asked of every step
            return {}
        return {found[1]: self._frames[found[1]] for found in _FRAME.finditer(text) if found[1]}

    def sql(self, text: str) -> DataFrame:
        """Run a query that refers to attached DataFrames."""
        frames: dict[str, Any] = dict(self.registered_frames(text))
        if frames:  # only then does Spark format the text, and braces must be doubled
            text = text.replace("{", "{{").replace("}", "}}")
            text = _FRAME.sub(lambda found: f"{{{found[0]}}}" if found[1] else found[0], text)
        return self.spark.sql(text, args={}, **frames)  # without any, it asks Java for an empty array of them
