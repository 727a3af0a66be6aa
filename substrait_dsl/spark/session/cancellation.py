"""Cancel abandoned jobs: after an interrupt (Ctrl-C), after an exception, and at the end.

Every execution has a tag of its own, so that only its jobs are cancelled. On a classic session Python waits for Java,
and an interrupt in the middle of that leaves a part of an answer in the pipe, which the next request would read. So the
jobs are cancelled first, from another thread; then Java answers, and the interrupt is raised.

While a change becomes visible an interrupt is delayed until it is made or rolled back: see `hold_interrupts`.
"""

from __future__ import annotations

import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Self

from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.session.connect import is_remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from pyspark.sql import SparkSession

_EVERY = 0.2
"""The interval, in seconds, after which jobs that were started since are cancelled, too."""
_MAX_INTERRUPTS = 3
"""The number of interrupts after which Python is interrupted at once."""

_CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


class Cancellation:
    """A context manager that cancels the jobs that its thread has started, if nothing waits for them any more.

    Args:
        spark: the session.
        at_end: whether jobs that still run at the end of the block are cancelled, too.
    """

    def __init__(self, spark: SparkSession, *, at_end: bool = False) -> None:
        self._spark = spark
        self._is_remote = is_remote(spark)
        self._at_end = at_end
        self._tag = f"substrait_dsl-{uuid.uuid4().hex}"
        self._interrupts = 0
        self._depth = 0
        """The number of nested blocks that delay interrupts."""
        self._cancels = True
        """Whether an interrupt cancels the jobs of the block that delays it."""
        self._is_over = threading.Event()
        self._former: Callable[[int, FrameType | None], Any] | None = None
        self._token: Token[Cancellation | None] | None = None

    def __enter__(self) -> Self:
        self._token = _CURRENT.set(self)
        with suppress(Exception):  # what is wrong with the session says so where a job is started
            if self._is_remote:
                self._spark.addTag(self._tag)
            else:  # such a session knows the tags of its own thread only
                self._spark.sparkContext.addJobTag(self._tag)
        former = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and callable(former):
            self._former = former
            signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
        self._is_over.set()
        if error is not None or self._at_end or self._interrupts:
            self._cancel()
        with suppress(Exception):
            if self._is_remote:
                self._spark.removeTag(self._tag)
            else:
                self._spark.sparkContext.removeJobTag(self._tag)
        if self._token is not None:
            _CURRENT.reset(self._token)
        if not isinstance(error, KeyboardInterrupt):
            self.require_going_on()

    def require_going_on(self) -> None:
        """Raise `KeyboardInterrupt` if there was an interrupt."""
        if self._interrupts:
            raise KeyboardInterrupt

    @contextmanager
    def hold_interrupts(self, *, cancels: bool) -> Iterator[None]:
        """Delay interrupts in a block. See the function of this name."""
        self._depth += 1
        before, self._cancels = self._cancels, cancels
        try:
            self.require_going_on()
            yield
        finally:
            self._cancels = before
            self._depth -= 1
        self.require_going_on()

    @property
    def may_have_cancelled(self) -> bool:
        """Whether a cancellation was sent to a server that may have finished by then."""
        return self._is_remote and self._interrupts > 0

    def _cancel(self) -> None:
        with suppress(Exception):  # a session that has ended runs no jobs
            if self._is_remote:
                self._spark.interruptTag(self._tag)
            else:
                self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        assert self._former is not None
        # A client of Spark Connect cancels what it waits for itself, and raises the interrupt then.
        if not self._depth and (self._is_remote or not _waits_for_java(frame)):
            self._former(number, frame)
            return
        self._interrupts += 1
        if self._interrupts == 1 and self._cancels:
            threading.Thread(target=self._cancel_until_over, name="substrait-dsl cancellation", daemon=True).start()
        elif self._interrupts > _MAX_INTERRUPTS:
            raise KeyboardInterrupt

    def _cancel_until_over(self) -> None:
        self._cancel()
        while not self._is_over.wait(_EVERY):
            self._cancel()


def _waits_for_java(frame: FrameType | None) -> bool:
    """Whether the main thread was interrupted while it talked to Java."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("py4j."):
            return True
        frame = frame.f_back
    return False


@contextmanager
def hold_interrupts(*, cancels: bool = False) -> Iterator[None]:
    """Delay interrupts in a block that makes a change visible, until the change is made or rolled back.

    Where the change is made, the block says so by `note_outcome`. The fourth interrupt in a row is raised at once.

    Args:
        cancels: whether an interrupt cancels the jobs that run in the block, as where one statement does all of it.

    Raises:
        KeyboardInterrupt: there was an interrupt before the block, and nothing is done; or in it.
    """
    current = _CURRENT.get()
    if current is None:
        yield
        return
    with current.hold_interrupts(cancels=cancels):
        try:
            yield
        except KeyboardInterrupt:
            note_outcome("unknown")
            raise
        except Exception:
            if cancels and current.may_have_cancelled:
                note_outcome("unknown")
            raise
