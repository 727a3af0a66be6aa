"""Executions of plans on any engine: a frame for each root, and its rows in one form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, cast

from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.trees import Root
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.table_arguments import Tables, arrow_tables, is_table

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

    from substrait_dsl.algebra.accesses import Allowed
    from substrait_dsl.consumers.acero import AceroSession
    from substrait_dsl.spark.session.explain import ExplainMode

    OtherSession = SessionContext | DuckDBPyConnection | AceroSession
    Session = SparkSession | OtherSession

R = TypeVar("R")
Output = Literal["frame", "rows", "arrow", "text"]
"""In what form rows are asked for: as a frame of the engine's, as values of Python, as an Arrow table, as text."""


class Execution(ABC):
    """A plan that an engine runs."""

    frames: list[Any]
    """A frame of the engine's for each root of the plan."""

    @abstractmethod
    def require_success(self, error: BaseException | None, *, is_all: bool = False) -> None:
        """Raise an error in words of the plan, if it is known to come from it, or comes from it because all does."""

    @abstractmethod
    def watching(self, *, progress: bool, is_all: bool) -> AbstractContextManager[object]:
        """Return a context in which rows are computed: an interrupt cancels it, and it may show its progress."""

    def telling(self) -> AbstractContextManager[object]:
        """Return a context that adds to errors which changes of tables were made."""
        return nullcontext()

    def tell(self, interrupt: KeyboardInterrupt) -> None:
        """Tell an interrupt which changes were made, where there are any."""
        return

    @abstractmethod
    def rows(self) -> list[Any]:
        """Return the rows of the first root, as tuples with names."""

    @abstractmethod
    def arrow(self) -> pa.Table:
        """Return the rows of the first root as an Arrow table of exactly its schema."""

    @abstractmethod
    def show(self, n: int, truncate: bool | int, vertical: bool) -> None:
        """Print the first rows of the first root."""

    @abstractmethod
    def explain(self, text: str, mode: ExplainMode | None) -> str:
        """Return a plan as text, with the engine's plan of each root below it."""


class Running(Generic[R]):
    """A context manager in which a relation runs; made by ``rel.running(spark)``.

    Errors inside it that come from the relation are `ExecutionError`, which name the step that failed. Jobs that its
    thread has started inside, and that still run when it is left, by an interrupt or otherwise, are cancelled.
    """

    __slots__ = ("_is_all", "_progress", "_result", "_stack", "_verb", "execution")

    def __init__(self, verb: str, execution: Execution, result: R, *, progress: bool, is_all: bool = False) -> None:
        """`result` is what ``with`` gives; `is_all` says that nothing but the relation runs inside."""
        self._verb = verb
        self.execution = execution
        self._result = result
        self._progress = progress
        self._is_all = is_all
        self._stack = ExitStack()

    def __reduce__(self) -> NoReturn:
        raise InvalidArgumentError(
            "what runs in a session cannot be pickled",
            hint="pickle the relation or the plan, and run it where it is read",
        )

    def __enter__(self) -> R:
        with error_context(verb=self._verb):
            self._stack.enter_context(self.execution.watching(progress=self._progress, is_all=self._is_all))
        return self._result

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.execution.telling():
            self._stack.__exit__(error_class, error, trace)
            with error_context(verb=self._verb):
                self.execution.require_success(error, is_all=self._is_all)
        if isinstance(error, KeyboardInterrupt):
            self.execution.tell(error)


_SESSIONS = (
    "a SessionContext of DataFusion is a session, too, as are a connection of DuckDB and an AceroSession; without one, "
    "Sail runs it"
)


def start(
    plan: AlgebraPlan,
    session: Session | None,
    *,
    tables: Tables | None = None,
    persist_shared: bool = False,
    is_preview: bool = False,
    output: Output = "frame",
    allow: Allowed | None = None,
) -> Execution:
    """Start a plan on the engine of a session.

    Args:
        plan: the plan.
        session: the session; None: that of the embedded engine, which starts when it is first asked for.
        tables: what this execution reads under some names.
        persist_shared: whether rows of shared relations are kept.
        is_preview: whether to leave out what changes tables: of a write, the rows of its input are started.
        output: in what form rows are asked for.
        allow: what the plan may access.

    Raises:
        InvalidArgumentError: what is given is no session, or a table is none of the plan.
        NotAllowedError: the plan has an access that is not allowed.
        UnsupportedError: the engine has no way to do exactly what the plan says.
        SchemaError: a table does not fit.
        ExecutionError: the engine, or a table, is not there.
    """
    require_flag("persist_shared", persist_shared)
    if allow is not None:
        from substrait_dsl.algebra.accesses import require_allowed

        require_allowed(plan.accesses, allow)
    frames = {} if tables is None else arrow_tables(tables, plan.accesses)
    if session is None:
        from substrait_dsl.spark.session.embedded import embedded_session

        session = embedded_session()
    from substrait_dsl.consumers.consumer import consumer_of

    if (consumer := consumer_of(session)) is not None:
        from substrait_dsl.consumers.execution import ConsumerExecution

        return ConsumerExecution(
            plan, consumer, frames, persist_shared=persist_shared, is_preview=is_preview, output=output
        )
    if not hasattr(session, "createDataFrame"):
        raise InvalidArgumentError("expected a SparkSession", got=session, hint=_session_hint(session))
    from substrait_dsl.fluent.running import SparkExecution

    return SparkExecution(
        plan,
        cast("SparkSession", session),
        frames,
        persist_shared=persist_shared,
        is_preview=is_preview,
        output=output,
    )


def _session_hint(value: object) -> str:
    """Return the hint for a value that is no session."""
    if type(value) is int:
        return f"write show(n={value})"
    return 'tables={"orders": frame} gives the tables that are read' if is_table(value) else _SESSIONS


def running(
    verb: str,
    plan: AlgebraPlan,
    session: Session | None,
    *,
    progress: bool,
    tables: Tables | None = None,
    persist_shared: bool = False,
    is_all: bool = False,
    output: Output = "frame",
    allow: Allowed | None = None,
) -> Running[Any]:
    """Start the plan of one relation. Raises as `start` does."""
    require_flag("progress", progress)
    execution = start(plan, session, tables=tables, persist_shared=persist_shared, output=output, allow=allow)
    return Running(verb, execution, execution.frames[0], progress=progress, is_all=is_all)


def root_schema(root: Root) -> NamedStruct:
    """Return the columns of a root, as its users see them."""
    return NamedStruct.from_types(root.input.schema.types, root.names)
