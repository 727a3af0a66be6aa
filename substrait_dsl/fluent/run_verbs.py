"""Verbs that run a relation and give its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from substrait_dsl.errors import error_context
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.choices import require_count, require_flag
from substrait_dsl.fluent.table_arguments import Tables

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from substrait_dsl.algebra.accesses import Allowed
    from substrait_dsl.fluent.execution import OtherSession, Running, Session


class RunVerbs(RelationBase):
    """The rows of a relation, from an engine."""

    __slots__ = ()

    @overload
    def execute(
        self,
        session: SparkSession | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        allow: Allowed | None = None,
    ) -> DataFrame: ...

    @overload
    def execute(self, session: OtherSession, *, tables: Tables | None = None, allow: Allowed | None = None) -> Any: ...

    def execute(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        allow: Allowed | None = None,
    ) -> Any:
        """Run and return the rows as a DataFrame of exactly this relation's schema.

        Args:
            session: what runs it: a session of Spark, a ``datafusion.SessionContext`` or a connection of DuckDB; None:
                the session of the embedded engine, which needs no Java.
            tables: what this execution reads under some names, before tables of the session:
                ``{"orders": frame, ("shop", "customers"): "customers.parquet"}``. Tables and readers of pyarrow,
                DataFrames of pandas and Polars, whatever has ``__arrow_c_stream__``, and paths of Parquet and Arrow IPC
                files. Their columns are checked as those of Spark's tables. A reader is read to its end: the next
                execution needs another one.
            persist_shared: whether Spark keeps the rows of relations that are `shared`, once they are computed, until
                ``spark.catalog.clearCache()``. Without it, Spark decides how often it computes them.
            allow: what the relation may read, write and define, for who runs plans of others: a function of an `Access`
                that says True or False, or all accesses that there may be, such as ``plan.accesses()`` of a plan that
                is known; None: everything. To read a name in `tables` is an access, too.

        Raises `NotAllowedError` for another access, before an engine is asked anything, `InvalidArgumentError` for a
        table that the plan does not read, `UnsupportedError` for what Spark cannot do exactly, and for a table that the
        plan changes, `SchemaError` for one that does not fit, and `ExecutionError` for one that is not there; all
        before anything runs. What fails while rows are computed is the engine's own error: `collect`, `show` and
        `running` say which step it comes from.

        Example:
            >>> numbers = sd.read_virtual([(1,), (2,)], {"n": "i64"})
            >>> numbers.execute().columns
            ['n']
        """
        from substrait_dsl.fluent.execution import start

        with error_context(verb="execute"):
            execution = start(self._plan(), session, tables=tables, persist_shared=persist_shared, allow=allow)
            return execution.frames[0]

    @overload
    def running(
        self,
        session: SparkSession | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> Running[DataFrame]: ...

    @overload
    def running(
        self, session: OtherSession, *, tables: Tables | None = None, allow: Allowed | None = None
    ) -> Running[Any]: ...

    def running(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> Running[Any]:
        """Run inside a ``with``: what fails there says which step of this relation failed.

        ``with rel.running(spark) as df: df.write.parquet(path)`` is `execute`, and whatever is done with the DataFrame.
        Spark's errors that come from this relation are raised as `ExecutionError` with the step and the expression,
        Spark's own being the cause; other errors stay what they are.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, on the standard error. It counts all that the application runs.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `execute` does.

        Example:
            >>> with sd.read_virtual([(1,), (2,)], {"n": "i64"}).running() as frame:
            ...     frame.count()
            2
        """
        from substrait_dsl.fluent.execution import running

        with error_context(verb="running"):
            return running(
                "running",
                self._plan(),
                session,
                tables=tables,
                progress=progress,
                persist_shared=persist_shared,
                allow=allow,
            )

    def collect(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> list[Row]:
        """Run and return the rows: a list, which a notebook shows as a table.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, as of `running`.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `execute` does, `ExecutionError` for what fails while it runs, with the step and the expression, and
        for a time that Python cannot hold, and `UnsupportedError` for years and months as an interval, which pyspark
        does not bring to Python.

        Example:
            >>> sd.read_virtual([(1,), (2,)], {"n": "i64"}).filter(lambda r: r.n > 1).collect()
            [Row(n=2)]
        """
        from substrait_dsl.fluent.collected import Rows
        from substrait_dsl.fluent.execution import running

        with error_context(verb="collect"):
            started = running(
                "collect",
                self._plan(),
                session,
                tables=tables,
                progress=progress,
                persist_shared=persist_shared,
                is_all=True,
                output="rows",
                allow=allow,
            )
        with started, error_context(verb="collect"):
            return Rows(started.execution.rows(), self.columns)

    def to_arrow(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> pa.Table:
        """Run and return the rows as a ``pyarrow.Table`` of exactly ``schema.to_arrow()``, on every engine.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, as of `running`.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `collect` does, and `UnsupportedError` for a type that has no exact Arrow storage.

        Example:
            >>> sd.read_virtual([(1,), (2,)], {"n": "i64"}).to_arrow().to_pydict()
            {'n': [1, 2]}
        """
        return self._to_arrow("to_arrow", session, tables, persist_shared, progress, allow)

    def to_pandas(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> pd.DataFrame:
        """Run and return the rows as a DataFrame of pandas, whose columns are of Arrow's types (``pandas.ArrowDtype``).

        So an ``i64`` with NULL stays one, and a decimal has its digits. Types of NumPy: ``to_arrow().to_pandas()``.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, as of `running`.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `to_arrow` does, and `UnsupportedError` without pandas.

        Example:
            >>> sd.read_virtual([(1,), (2,)], {"n": "i64"}).to_pandas()["n"].tolist()
            [1, 2]
        """
        from substrait_dsl.arrow.frames import pandas_frame

        return pandas_frame(self._to_arrow("to_pandas", session, tables, persist_shared, progress, allow))

    def to_polars(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> pl.DataFrame:
        """Run and return the rows as a DataFrame of Polars.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, as of `running`.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `to_arrow` does, and `UnsupportedError` without Polars, and for a type that Polars has not.

        Example:
            >>> sd.read_virtual([(1,), (2,)], {"n": "i64"}).to_polars().to_dict(as_series=False)
            {'n': [1, 2]}
        """
        from substrait_dsl.arrow.frames import polars_frame

        return polars_frame(self._to_arrow("to_polars", session, tables, persist_shared, progress, allow))

    def _to_arrow(
        self,
        verb: str,
        session: Session | None,
        tables: Tables | None,
        persist_shared: bool,
        progress: bool,
        allow: Allowed | None,
    ) -> pa.Table:
        from substrait_dsl.arrow.frames import require_library
        from substrait_dsl.arrow.schemas import to_arrow
        from substrait_dsl.fluent.execution import running

        with error_context(verb=verb):
            require_library(verb)
            to_arrow(self._rel.schema)  # what it refuses does not run
            started = running(
                verb,
                self._plan(),
                session,
                tables=tables,
                progress=progress,
                persist_shared=persist_shared,
                is_all=True,
                output="arrow",
                allow=allow,
            )
        with started, error_context(verb=verb):
            return started.execution.arrow()

    def show(
        self,
        session: Session | None = None,
        n: int = 20,
        *,
        tables: Tables | None = None,
        truncate: bool | int = True,
        vertical: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> None:
        """Run and print the first rows, as ``DataFrame.show`` does.

        Args:
            session: what runs it, as of `execute`; None: the embedded engine.
            n: how many rows.
            tables: what this execution reads under some names, as of `execute`.
            truncate: whether to cut values after 20 characters, or after how many.
            vertical: whether to print each column of a row on a line of its own.
            progress: whether to show how far jobs are, as of `running`.
            allow: what the relation may read, write and define, as of `execute`.

        Raises as `collect` does.

        Example:
            >>> sd.read_virtual([(1,), (2,)], {"n": "i64"}).show(n=1)
            +---+
            |  n|
            +---+
            |  1|
            +---+
            only showing top 1 row
        """
        from substrait_dsl.fluent.execution import running

        with error_context(verb="show"):
            require_count("n", n)
            if not isinstance(truncate, bool):
                require_count("truncate", truncate)
            require_flag("vertical", vertical)
            started = running(
                "show",
                self._plan(),
                session,
                tables=tables,
                progress=progress,
                is_all=True,
                output="text",
                allow=allow,
            )
        with started:
            started.execution.show(n, truncate, vertical)
