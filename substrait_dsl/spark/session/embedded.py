"""The embedded engine: Sail, a server of Spark Connect in this process, without Java.

A process has one server, with one session. The server starts on first use, listens on the loopback interface only, and
ends with the process. Spark may run in the same process.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from threading import RLock
from typing import TYPE_CHECKING, Any

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.session.failures import message_of, spark_errors
from substrait_dsl.spark.session.time_zone import TIME_ZONE
from substrait_dsl.spark.session.versions import (
    SAIL_CLIENT,
    how_to_install_sail,
    minor_version,
    require_client,
    require_sail,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    TIME_ZONE: "UTC",
    "spark.sql.timeType.enabled": "true",
}
"""The settings of its session."""

_ENVIRONMENT: Mapping[str, str] = {
    "RUST_LOG": "off",  # it would print what it logs
    "SAIL_SPARK__SESSION_TIMEOUT_SECS": "100000000",  # else a session that is idle for some minutes is lost
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # else its client prints, or ends the process, when others start processes
}
"""Environment variables that the server and its client read when they start, unless the user has set them."""

_LOCK = RLock()
_servers: list[Any] = []
"""The server of this process, once there is one."""
_sessions: list[SparkSession] = []
"""The session of this process, once there is one."""
_exits: list[Callable[..., object]] = []
"""The exit function of the server, which waits for threads."""
_foreign: list[int] = []
"""The processes with a server from which this one was forked."""


def embedded_session() -> SparkSession:
    """Start the embedded engine, or return the session of the one that runs in this process.

    After ``session.stop()`` there is a new session, without the tables of the one before.

    Returns:
        A session with ANSI mode on, and UTC as its time zone. The tables that are made in it are gone when it is
        stopped, and when the program ends.

    Raises:
        ExecutionError: it is not installed, does not start, or this process was forked from one in which it ran.
        UnsupportedError: it, or pyspark, is of a version that plans do not run on.

    Example:
        >>> from substrait_dsl.spark.session.embedded import embedded_session
        >>> embedded_session().sql("SELECT 1 + 1 AS two").collect()
        [Row(two=2)]
    """
    with _LOCK:
        if _sessions and _servers and _servers[0].running and not getattr(_sessions[0], "is_stopped", False):
            return _sessions[0]
        _sessions[:] = [_start()]
        return _sessions[0]


def is_embedded(spark: SparkSession) -> bool:
    """Whether a session is that of the embedded engine in this process."""
    return any(spark is session for session in _sessions)


def _start() -> SparkSession:
    if _foreign:
        raise ExecutionError(
            f"this process was forked from process {_foreign[-1]}, in which the embedded engine ran: what talks to it "
            "does not work in a copy of a process",
            hint='multiprocessing.get_context("spawn") starts processes anew; or fork before it is first used',
        )
    with _environment(), _noted_exits():
        _require_installed()
        try:
            if not (_servers and _servers[0].running):
                _servers[:] = [_server()]
            return _session(_servers[0].listening_address[1])
        except (RuntimeError, OSError) as error:
            raise ExecutionError(f"the embedded engine does not start: {error}") from error
        except spark_errors() as error:
            raise ExecutionError(f"the embedded engine does not start: {message_of(error)}") from error


def _require_installed() -> None:
    try:
        require_client()
        require_sail(version("pysail"))
        import pysail.spark  # type: ignore[import-untyped]  # noqa: F401
        from pyspark.errors import PySparkException

        try:
            with _named_program():
                import pyspark.sql.connect.session  # noqa: F401  # pyspark without what Spark Connect needs fails here
        except PySparkException as error:
            raise ExecutionError(
                f"the embedded engine lacks a package: {message_of(error)}", hint=how_to_install_sail()
            ) from error
    except (ImportError, PackageNotFoundError) as error:
        raise ExecutionError(
            f"the embedded engine, Sail, is not installed: {error}", hint=how_to_install_sail()
        ) from error


@contextmanager
def _named_program() -> Iterator[None]:
    """Name a file of the program while pyspark's client is imported: ``python -c`` and pipes have none.

    pyspark would take it for its own tests, import these, and end the process where there is no Spark for them.
    """
    main = sys.modules["__main__"]
    if main.__spec__ is not None or hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "<program>"
    try:
        yield
    finally:
        del main.__file__


def _server() -> Any:
    """Start a server that is never released.

    When the last reference to it goes, it waits for all of its clients, and in a forked process for threads that do not
    exist there: a program would not end.
    """
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    _hold(server)
    server.start(background=True)
    return server


@contextmanager
def _noted_exits() -> Iterator[None]:
    """Record the functions that are registered for the end of the process: nothing else gives access to Sail's.

    A thread of the server registers it, before it answers a request.
    """
    register = atexit.register

    def note(function: Callable[..., object], *arguments: object, **named: object) -> object:
        if getattr(function, "__module__", None) is None:  # as of functions that are not written in Python
            _exits.append(function)
        return register(function, *arguments, **named)

    atexit.register = note  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register


def _hold(it: object) -> None:
    """Keep a reference to an object until the end of the process, so that Python does not finalize it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(it))


def _session(port: int) -> SparkSession:
    """Create a session of the server, which does not become pyspark's active session."""
    from pyspark.sql.connect.session import SparkSession

    from substrait_dsl.spark.session.local import make_warehouse

    session = SparkSession(f"sc://127.0.0.1:{port}")
    # At its end a process would ask the server to tidy up, and wait for it, also where there is none: a forked one.
    if (on_exit := getattr(session.client, "_on_exit", None)) is not None:
        atexit.unregister(on_exit)
    with _known_client():
        for key, value in {**SETTINGS, "spark.sql.warehouse.dir": make_warehouse()}.items():
            session.conf.set(key, value)
    return session  # type: ignore[return-value]  # pyspark's two sessions are one to its users


@contextmanager
def _known_client() -> Iterator[None]:
    """Report the client to Sail as the newest version that it knows, while it creates a session.

    It refuses any newer one, though the protocol between the two has not changed.
    """
    import pyspark

    there = pyspark.__version__
    found = minor_version(there)
    if found is not None and found > SAIL_CLIENT:
        pyspark.__version__ = "{}.{}.0".format(*SAIL_CLIENT)
    try:
        yield
    finally:
        pyspark.__version__ = there


@contextmanager
def _environment() -> Iterator[None]:
    """Set `_ENVIRONMENT` while the server and its client start; child processes of others do not inherit it."""
    added = [name for name in _ENVIRONMENT if name not in os.environ]
    os.environ.update({name: _ENVIRONMENT[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _forget() -> None:
    """Forget the server of the parent process: its threads do not exist in the child."""
    global _LOCK
    _LOCK = RLock()
    if _servers:
        _foreign.append(os.getppid())
        _hold(_sessions.copy())
        for function in _exits:
            atexit.unregister(function)
    _servers.clear()
    _sessions.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
