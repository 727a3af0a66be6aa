"""The versions of Spark that plans run on, and what only the newer of them have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Version = tuple[int, int]

OLDEST: Version = (4, 1)
NEWEST: Version = (4, 3)
"""The range of minor versions; both ends are tested. The extra ``spark`` of the package says it, too."""

Capability = Literal["zipWithIndex", "EXISTS without its row"]

SINCE: Mapping[Capability, Version] = {
    "zipWithIndex": (4, 2),  # of a DataFrame; before, the rows are numbered in one task
    "EXISTS without its row": (4, 2),  # simplified until it does not refer to the row outside; before, Spark fails
}
"""What Spark has not had in the whole range: since when it has."""

_SERVERS: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
"""The version of Spark behind each session that was asked: a client of Spark Connect sends a request for it."""


def require_supported(spark: SparkSession) -> None:
    """Refuse a session that is not of the versions of Spark which plans are known to run on.

    Raises:
        UnsupportedError: pyspark, or the Spark that the session talks to, is older or newer.
    """
    require_client()
    _require(_server(spark), "the session's Spark", "connect to a server of such a version")


def require_client() -> None:
    """Refuse a pyspark of another version. Raises `UnsupportedError`."""
    import pyspark

    _require(pyspark.__version__, "pyspark", 'pip install "substrait-dsl[spark]"')


def has(spark: SparkSession, capability: Capability) -> bool:
    """Whether both pyspark and the Spark that a session talks to are new enough for something."""
    import pyspark

    versions = (_minor(pyspark.__version__), _minor(_server(spark)))
    return all(version is not None and version >= SINCE[capability] for version in versions)


def _server(spark: SparkSession) -> str:
    if spark not in _SERVERS:
        _SERVERS[spark] = spark.version
    return _SERVERS[spark]


def _require(version: str, what: str, hint: str) -> None:
    found = _minor(version)
    if found is None or not OLDEST <= found <= NEWEST:
        oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
        raise UnsupportedError(f"plans run on Spark {oldest} to {newest}, and {what} is {version}", hint=hint)


def _minor(version: str) -> Version | None:
    """The first two numbers of a version; what vendors add to it says nothing here."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None
