"""The codes of the plugin's errors: one for each kind of mistake in the library's own tree of errors.

mypy must know them as soon as the plugin is loaded, for then it looks at ``disable_error_code`` and
``enable_error_code``; so this module imports little.
"""

from __future__ import annotations

from collections.abc import Mapping

from mypy.errorcodes import ErrorCode

import substrait_dsl.errors as errors  # ``from substrait_dsl import`` would load all of the library

_CATEGORY = "Substrait"

CODES: Mapping[type[errors.SubstraitDslError], ErrorCode] = {
    kind: ErrorCode(f"substrait-{kind.code}", (kind.__doc__ or "").partition("\n")[0], _CATEGORY)
    for kind in (
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
"""The code of each kind of mistake."""

FAILURE = ErrorCode("substrait-internal", "The plugin itself has failed, and mypy's own types stand.", _CATEGORY)
"""A mistake of the plugin's, and none of the program's."""

DYNAMIC = ErrorCode(
    "substrait-dynamic",
    "The columns of a relation cannot be told from the program.",
    _CATEGORY,
    default_enabled=False,
)
"""Not a mistake: says where the plugin knows the columns no longer, to those who ask."""
