"""The functions of an extension of one's own, as `substrait_dsl.fluent.stub` says to offer them."""

from pathlib import Path
from typing import Any

from substrait_dsl import Functions, standard_catalog

EXTENSION = Path(__file__).with_name("extension.yaml")

_functions = Functions(standard_catalog().with_extension(EXTENSION))


def __getattr__(name: str) -> Any:
    return getattr(_functions, name)
