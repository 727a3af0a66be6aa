"""The supported versions of Spark, and the capabilities that only newer ones have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.installation import install_line
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.servers import PYSAIL, server_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Version = tuple[int, int]

OLDEST: Version = (4, 1)
NEWEST: Version = (4, 3)
"""The range of supported minor versions; both ends are tested. The extra ``spark`` of the package declares it, too."""

Capability = Literal["zipWithIndex", "EXISTS without its row"]

SINCE: Mapping[Capability, Version] = {
    "zipWithIndex": (4, 2),  # of a DataFrame; before, the rows are numbered in one task
    "EXISTS without its row": (4, 2),  # simplified until it is uncorrelated; before, Spark fails
}
"""Capabilities that are missing in a part of the range: the version that has them first."""

SAIL: Version = (0, 7)
"""The supported minor version of Sail. The extra ``local`` declares it, too."""

SAIL_CLIENT: Version = (4, 2)
"""The newest minor version of pyspark that this Sail knows."""


def require_supported(spark: SparkSession) -> None:
    """Refuse a session of an unsupported version of Spark or Sail."""
    require_client()
    if not is_remote(spark):
        require_spark()
    server = server_of(spark)
    if server.engine == "sail":
        require_sail(server.version)
    else:
        _require(server.version, "the session's Spark", "connect to a server of such a version")


def require_sail(found: str) -> None:
    """Refuse another version of Sail. Raises `UnsupportedError`."""
    if minor_version(found) != SAIL:
        raise UnsupportedError(
            f"plans run on Sail {'.'.join(map(str, SAIL))}, and this one is {found}",
            hint=how_to_install_sail(),
        )


def how_to_install_sail() -> str:
    """Return the command that installs the embedded engine: pyspark's client overwrites files of a full pyspark."""
    has_spark = _find_installed_version("pyspark") is not None
    return install_line("connect", PYSAIL) if has_spark else install_line("local")


def require_client() -> None:
    """Refuse a pyspark of another version, or one that lacks files. Raises `UnsupportedError`."""
    import pyspark

    if (found := getattr(pyspark, "__version__", None)) is None:  # a folder without the module's files
        raise UnsupportedError(
            "the module pyspark lacks files: of the packages pyspark and pyspark-client, which both are it, one was "
            "removed",
            hint=_reinstall_command(),
        )
    _require(found, "pyspark", install_line("spark"))


@cache
def require_spark() -> None:
    """Refuse a pyspark that has no Spark, or a part of another version. Raises `UnsupportedError`."""
    from pyspark.util import is_remote_only
    from pyspark.version import __version__ as found

    if is_remote_only():
        raise UnsupportedError(
            "there is no Spark in the package pyspark-client, which is a client of servers alone",
            hint=install_line("spark"),
        )
    both = _find_installed_version("pyspark"), _find_installed_version("pyspark-client")
    if None not in both and found != both[0]:
        raise UnsupportedError(
            "the packages pyspark {} and pyspark-client {} are one module, and the second has replaced files of the "
            "first".format(*both),
            hint=_reinstall_command(),
        )


def _find_installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _reinstall_command() -> str:
    """Return the command that repairs an installation of pyspark. Sail runs with a full one, too."""
    found = ((package, _find_installed_version(package)) for package in ("pyspark", "pyspark-client"))
    package = next((f"{name}=={there}" for name, there in found if there is not None), "pyspark")
    return f"pip install --force-reinstall --no-deps {package}"


def has(spark: SparkSession, capability: Capability) -> bool:
    """Whether both pyspark and the session's Spark are new enough for a capability."""
    import pyspark

    server = server_of(spark)
    if server.engine == "sail":
        return False
    versions = (minor_version(pyspark.__version__), minor_version(server.version))
    return all(each is not None and each >= SINCE[capability] for each in versions)


def _require(found: str, what: str, hint: str) -> None:
    minor = minor_version(found)
    if minor is None or not OLDEST <= minor <= NEWEST:
        oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
        raise UnsupportedError(f"plans run on Spark {oldest} to {newest}, and {what} is {found}", hint=hint)


def minor_version(text: str) -> Version | None:
    """Return the first two numbers of a version; vendors' suffixes are ignored."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None
