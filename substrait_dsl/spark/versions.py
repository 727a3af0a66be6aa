"""The versions of Spark that plans run on, and what only the newer of them have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.servers import server_of

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

SAIL: Version = (0, 7)
"""The minor version of Sail that plans are known to run on. The extra ``local`` says it, too."""

SAIL_CLIENT: Version = (4, 2)
"""The newest minor version of pyspark that this Sail knows."""

LOCAL = 'pip install "substrait-dsl[local]"'
"""What installs the embedded engine."""


def require_supported(spark: SparkSession) -> None:
    """Refuse a session that is not of the versions of Spark, or of Sail, which plans are known to run on.

    Raises:
        UnsupportedError: pyspark, or what the session talks to, is older or newer.
    """
    require_client()
    server = server_of(spark)
    if server.engine == "sail":
        require_sail(server.version)
    else:
        _require(server.version, "the session's Spark", "connect to a server of such a version")


def require_sail(version: str) -> None:
    """Refuse another version of Sail. Raises `UnsupportedError`."""
    if minor_version(version) != SAIL:
        raise UnsupportedError(
            f"plans run on Sail {'.'.join(map(str, SAIL))}, and this one is {version}",
            hint=LOCAL,
        )


def require_client() -> None:
    """Refuse a pyspark of another version. Raises `UnsupportedError`."""
    import pyspark

    _require(pyspark.__version__, "pyspark", 'pip install "substrait-dsl[spark]"')


def has(spark: SparkSession, capability: Capability) -> bool:
    """Whether both pyspark and the Spark that a session talks to are new enough for something."""
    import pyspark

    server = server_of(spark)
    if server.engine == "sail":
        return False
    versions = (minor_version(pyspark.__version__), minor_version(server.version))
    return all(version is not None and version >= SINCE[capability] for version in versions)


def _require(version: str, what: str, hint: str) -> None:
    found = minor_version(version)
    if found is None or not OLDEST <= found <= NEWEST:
        oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
        raise UnsupportedError(f"plans run on Spark {oldest} to {newest}, and {what} is {version}", hint=hint)


def minor_version(version: str) -> Version | None:
    """The first two numbers of a version; what vendors add to it says nothing here."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None
