"""The extension of this library for everyday work, ``everyday.yaml``."""

from __future__ import annotations

from functools import cache

from substrait_dsl.catalog.catalog import Catalog, standard_catalog
from substrait_dsl.catalog.load import read_extension

URN = "extension:substrait_dsl:everyday"


@cache
def everyday_catalog() -> Catalog:
    """Return the specification's functions and those of the extension."""
    from importlib.resources import files

    known = standard_catalog()
    source = files("substrait_dsl.catalog") / "everyday.yaml"
    added = read_extension(source.read_text(encoding="utf-8"), "everyday.yaml", known.extensions)
    return Catalog([*known.extensions.values(), added])
