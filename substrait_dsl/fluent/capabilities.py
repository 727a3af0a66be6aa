"""Reading the capabilities that a system declares."""

from __future__ import annotations

from pathlib import Path

from substrait_dsl.algebra.capabilities import Capabilities
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, error_context

DIALECT_ENDINGS = (".yaml", ".yml")


def read_capabilities(path: str | Path) -> Capabilities:
    """Read from a file what a system takes, to hold plans against it with `Plan.check`.

        duckdb = sd.read_capabilities("duckdb_dialect.yaml")
        print(sd.Plan.load("orders.plan").check(duckdb))

    Args:
        path: a dialect file, if its name ends in ``.yaml`` or ``.yml``. Else the message ``substrait.Capabilities``,
            which the specification had until 0.82: as JSON, if the name ends in ``.json``, or in its binary form.

    Returns:
        What the file says. What it says nothing about is None.

    Raises:
        CatalogError: the file cannot be read, or breaks the rules of dialect files; with the place.
        PlanFormatError: it is no such message.
        InvalidArgumentError: for what is no path, and for a version in the message that is none.

    Specification: ``dialect_schema.yaml``; ``capabilities.proto`` of versions before 0.82.

    Example:
        >>> sd.read_capabilities("nowhere.yaml")
        Traceback (most recent call last):
            ...
        substrait_dsl.errors.CatalogError: read_capabilities: cannot read nowhere.yaml: there is no such file
    """
    with error_context(verb="read_capabilities"):
        if not isinstance(path, str | Path):
            raise InvalidArgumentError("expected the path of a file, as a str or a Path", got=path)
        return capabilities_of(path)


def capabilities_of(path: str | Path) -> Capabilities:
    """As `read_capabilities`; errors do not name the call."""
    from substrait_dsl.engines.profile_files import file_bytes, profile_text

    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in DIALECT_ENDINGS:
        from substrait_dsl.catalog.dialects import read_dialect

        return read_dialect(profile_text(file), file.name)
    from substrait_dsl.proto.capabilities import decode_capabilities

    data = file_bytes(file)
    return decode_capabilities(_text(data, file) if suffix == ".json" else data, file.name)


def _text(data: bytes, file: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PlanFormatError(f"{file} is no text in UTF-8: {error}") from error
