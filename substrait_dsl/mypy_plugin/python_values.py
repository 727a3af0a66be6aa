"""Values of Python in the program that is checked: those that it writes out, and samples of those that it computes."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from substrait_dsl.mypy_plugin.names import is_ours
from substrait_dsl.mypy_plugin.placeholders import NAMELESS

MODULES = ("datetime", "decimal", "uuid")
"""Modules of Python whose classes make the values that literals are of."""

BUILTINS = ("builtins.abs", "builtins.list", "builtins.tuple", "builtins.dict")
"""Functions of Python that are called with expressions, or with their names."""

VARIABLES: Mapping[str, Any] = {"datetime.UTC": dt.UTC, "typing.Literal": Literal, "typing_extensions.Literal": Literal}
"""Variables of Python that stand in values and in types."""

SAMPLES: Mapping[str, Sequence[Any]] = {
    "builtins.int": (0, 1),  # as positions of columns they are different things
    "builtins.float": (1.0,),
    "builtins.bool": (False, True),
    "builtins.str": (NAMELESS,),
    "builtins.bytes": (b"",),
    "datetime.date": (dt.date(2000, 1, 1),),
    "datetime.time": (dt.time(),),
    "datetime.timedelta": (dt.timedelta(1),),
    "datetime.datetime": (dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 1, tzinfo=dt.UTC)),
    "decimal.Decimal": (decimal.Decimal(1), decimal.Decimal("0.01")),
    "uuid.UUID": (uuid.UUID(int=0),),
}
"""Values of types of Python; several where it depends on the value of which type a literal is, or which column."""

SAMPLE_COUNT = max(map(len, SAMPLES.values()))
"""How often a call is made whose arguments are samples, so that each has been tried."""


def is_python(fullname: str) -> bool:
    """Whether a class is one of Python's own, or of `MODULES`."""
    return fullname.partition(".")[0] in ("builtins", *MODULES)


def is_known(fullname: str) -> bool:
    """Whether a name is one whose value the plugin may use: of this library, of `MODULES` or `BUILTINS`."""
    return is_ours(fullname) or fullname.partition(".")[0] in MODULES or fullname in BUILTINS
