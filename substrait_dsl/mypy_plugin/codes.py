"""The error codes of the plugin: one for each class in the library's tree of errors.

mypy reads ``disable_error_code`` and ``enable_error_code`` as soon as the plugin is loaded, and must know the codes
then. So this module imports little.
"""

from __future__ import annotations

from collections.abc import Mapping

import substrait_dsl.errors as errors  # ``from substrait_dsl import`` would load all of the library
from substrait_dsl.mypy_plugin.mypy_internals import ErrorCode

_CATEGORY = "Substrait"

CODES: Mapping[type[errors.SubstraitDslError], ErrorCode] = {
    class_: ErrorCode(f"substrait-{class_.code}", (class_.__doc__ or "").partition("\n")[0], _CATEGORY)
    for class_ in (
        errors.SchemaError,
        errors.TypeMismatchError,
        errors.LiteralError,
        errors.UnknownFieldError,
        errors.UnknownAttributeError,
        errors.AmbiguousFieldError,
        errors.FunctionNotFoundError,
        errors.InvalidChoiceError,
        errors.InvalidArgumentError,
        errors.PlanFormatError,
        errors.UnsupportedError,
    )
}
"""The code of each class of errors."""

FAILURE = ErrorCode("substrait-internal", "The plugin itself has failed, and mypy's own types stand.", _CATEGORY)
"""An error of the plugin, not of the program."""

DYNAMIC = ErrorCode(
    "substrait-dynamic",
    "The columns of a relation cannot be derived from the program.",
    _CATEGORY,
    default_enabled=False,
)
"""No error: where the columns of a relation become unknown. Reported only if it is enabled."""

UNEVALUATED = ErrorCode(
    "substrait-unevaluated",
    "The arguments of a verb cannot be told from the program, and mypy's own types stand.",
    _CATEGORY,
    default_enabled=False,
)
"""No error: which conditions, sort keys and other arguments are not checked. Reported only if it is enabled."""
