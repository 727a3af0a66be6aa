"""The server of a session: Spark, or Sail, an engine without Java that implements Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EngineName = Literal["spark", "sail"]

ENGINES: tuple[EngineName, ...] = get_args(EngineName)

PYSAIL = "pysail>=0.7.2,<0.8"
"""The package of Sail, for `pip install`."""

SAIL_SERVER = f'pip install "{PYSAIL}" "pyspark-client>=4.1,<4.3"'
"""The packages of a Sail server with a pyspark that it knows."""


@attrs.frozen
class Server:
    """An engine and its own version."""

    engine: EngineName
    version: str


_SERVERS: WeakKeyDictionary[SparkSession, Server] = WeakKeyDictionary()
"""The server of each session that was asked: a client of Spark Connect sends a request for it."""


def server_of(spark: SparkSession) -> Server:
    """Return the engine of a session, whoever created it; it is asked once.

    The function ``version`` distinguishes them: Spark returns its version and a revision with a blank between, Sail its
    version only. ``spark.version`` does not: Sail returns the version of the client, and an error for a client that it
    does not know.
    """
    if spark not in _SERVERS:
        _SERVERS[spark] = _ask_server(spark) if is_remote(spark) else Server("spark", spark.version)
    return _SERVERS[spark]


def _ask_server(spark: SparkSession) -> Server:
    from pyspark.errors import PySparkException

    try:
        row = spark.sql("SELECT version()").head()
    except PySparkException:
        _require_known_pyspark(spark)
        raise
    assert row is not None
    text = str(row[0])
    return Server("spark", spark.version) if " " in text else Server("sail", text)


def _require_known_pyspark(spark: SparkSession) -> None:
    """Raise `UnsupportedError` if a Sail server does not know the installed pyspark.

    It says so only in its answer to the first request of a session; later it says that the session does not run. So
    another session asks again.
    """
    from pyspark.errors import PySparkException

    from substrait_dsl.spark.session.embedded import is_embedded

    if is_embedded(spark):  # its session was created with a version of pyspark that it knows
        return
    try:
        _ = spark.newSession().version
    except PySparkException as error:
        _, is_unknown, found = str(error).partition("unsupported PySpark version: ")
        if is_unknown:
            raise UnsupportedError(
                f"this server of Sail does not know the pyspark that is installed where it runs, {found.strip()}",
                hint=f"install one that it knows there: {SAIL_SERVER}",
            ) from error
