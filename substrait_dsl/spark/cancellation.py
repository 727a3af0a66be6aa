"""Jobs that nobody waits for any more are cancelled: after an interrupt (Ctrl-C), an exception, and at the end.

Every execution has a tag of its own, so that its jobs are cancelled and no others. On a classic session Python waits
for Java, and an interrupt in the middle of that leaves half of an answer in the pipe: what is asked next would get the
rest. So the jobs are cancelled first, from another thread; Java answers that they were; then the interrupt is raised.
"""

from __future__ import annotations

import signal
import threading
import uuid
from contextlib import suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Self

from substrait_dsl.spark.workspace import is_remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from pyspark.sql import SparkSession

_EVERY = 0.2
"""After how many seconds jobs are cancelled again that were started since."""
_MOST_INTERRUPTS = 3
"""How often a user interrupts what does not end before Python is interrupted where it is."""

_CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


class Cancellation:
    """A context manager that cancels the jobs that its thread starts inside, where nobody waits for them any more.

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
        if is_main and callable(former) and not self._is_remote:  # a client cancels what it waits for itself
            self._former = former
            signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
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

    def _cancel(self) -> None:
        with suppress(Exception):  # a session that has ended runs no jobs
            if self._is_remote:
                self._spark.interruptTag(self._tag)
            else:
                self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        assert self._former is not None
        if not _waits_for_java(frame):
            self._former(number, frame)
            return
        self._interrupts += 1
        if self._interrupts == 1:
            threading.Thread(target=self._cancel_until_over, name="substrait-dsl cancellation", daemon=True).start()
        elif self._interrupts > _MOST_INTERRUPTS:
            raise KeyboardInterrupt

    def _cancel_until_over(self) -> None:
        self._cancel()
        while not self._is_over.wait(_EVERY):
            self._cancel()


def _waits_for_java(frame: FrameType | None) -> bool:
    """Whether the main thread was interrupted while it talks to Java."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def require_going_on() -> None:
    """Raise `KeyboardInterrupt` if the execution was interrupted, before it makes visible what it has done."""
    if (current := _CURRENT.get()) is not None:
        current.require_going_on()
