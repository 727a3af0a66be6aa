"""What the plugin says, and where.

An error of the library's own tree becomes an error of mypy with the same words; its code says which kind it is, so that
``# type: ignore[substrait-field]`` and ``disable_error_code`` work as for mypy's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mypy.errorcodes import ErrorCode
from mypy.nodes import Context, Expression

from substrait_dsl import errors
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.placeholders import NAMELESS

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

CODES = {
    kind: ErrorCode(f"substrait-{kind.code}", (kind.__doc__ or "").partition("\n")[0], "Substrait")
    for kind in (
        errors.SchemaError,
        errors.TypeMismatchError,
        errors.LiteralError,
        errors.UnknownFieldError,
        errors.AmbiguousFieldError,
        errors.FunctionNotFoundError,
        errors.InvalidChoiceError,
        errors.InvalidArgumentError,
        errors.UnsupportedError,
    )
}
"""The code of each kind of mistake."""

DYNAMIC = ErrorCode(
    "substrait-dynamic", "The columns of a relation cannot be told from the program", "Substrait", default_enabled=False
)


_LINES = re.compile(r"\n\s*")


def report(error: errors.SubstraitDslError, api: CheckerPluginInterface, place: Context) -> bool:
    """Say what a mistake is, unless it is only about what mypy does not know; whether it has been said."""
    if UNKNOWN.name in str(error) or NAMELESS in str(error):
        return False
    hint = f"; {error.hint}" if error.hint else ""
    head = ", ".join(part for part in (error.verb, error.place) if part)
    text = f"{head}: {error.message}{hint}" if head else f"{error.message}{hint}"
    code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), CODES[errors.SchemaError])
    api.fail(_LINES.sub("; ", text).replace("there is; ", "there is: "), place, code=code)
    return True


def place_of(
    call: Context, arguments: Iterable[tuple[str | None, Expression]], error: errors.SubstraitDslError
) -> Context:
    """Where a mistake is: the argument that it is about, else the first, else the call.

    A call stands, to mypy, where its chain begins, which may be many lines above the verb.
    """
    given = list(arguments)
    for name, node in given:
        if name is not None and error.place is not None and f'"{name}"' in error.place:
            return node
    return given[0][1] if given else call
