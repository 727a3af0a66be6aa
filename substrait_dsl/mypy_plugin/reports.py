"""Report errors of the library as errors of mypy, with the same words.

The error code is that of the class of the error, so that ``# type: ignore[substrait-unknown-field]`` and
``disable_error_code`` work as for mypy's own codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import CallExpr, Context, Expression, MemberExpr, NameExpr, StrExpr
from mypy.plugin import ClassDefContext

from substrait_dsl import errors
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.codes import CODES, DYNAMIC, FAILURE
from substrait_dsl.mypy_plugin.mypy_internals import (
    TYPE_VARIABLE,
    Report,
    filter_reports,
    is_code_enabled,
    is_reporting,
    show_class_note,
    show_error,
    show_note,
    without_filters,
)
from substrait_dsl.mypy_plugin.placeholders import NAMELESS
from substrait_dsl.mypy_plugin.source_positions import subexpressions

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

_INNER = r"<[^<>]*>"
_PLACEHOLDER = re.compile(rf"parameter\(1\d{{9}}\):[a-z_\d!]+(<([^<>]|<([^<>]|{_INNER})*>)*>)?\??")
"""The text of an expression of which only the type is known."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
"""The address of a function in the memory of mypy, which differs from run to run."""


def names_unknown(error: errors.SubstraitDslError) -> bool:
    """Whether an error names a type or a column that stands for what is not known."""
    return UNKNOWN.name in str(error) or NAMELESS in str(error)


def report(
    error: errors.SubstraitDslError,
    api: CheckerPluginInterface,
    location: Context,
    within: Iterable[Context] = (),
    called: tuple[Context, str] | None = None,
) -> bool:
    """Report an error, unless it is about a column or a type that mypy does not know.

    Args:
        error: the error of the library.
        api: mypy's checker.
        location: where the error is reported.
        within: parts of the program about which mypy may have reported errors, which this error replaces.
        called: the call that is wrong and the name of its function; mypy may have reported its type variables.

    Returns:
        whether the error has been reported.
    """
    if names_unknown(error):
        return False
    text = format_error(error)
    if is_reporting(api):
        location = withdraw(api, within, called, text) or location
    code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), CODES[errors.SchemaError])
    show_error(api, text, location, code)
    return True


def report_failure(error: Exception, context: Any) -> None:
    """Report that the plugin has failed at a part of the program."""
    text = f"the plugin of substrait_dsl has failed here ({type(error).__name__}), and mypy's own types stand; "
    text += "mypy --show-traceback says where it failed: please report it"
    if isinstance(context, ClassDefContext):
        show_class_note(context, text, FAILURE)
        return
    with without_filters(context.api):
        show_note(context.api, text, context.context, FAILURE)


def format_error(error: errors.SubstraitDslError) -> str:
    """Return the text of an error, in one line."""
    head = ", ".join(part for part in (error.verb, error.place) if part)
    text = error.message
    if isinstance(error, errors.FunctionNotFoundError) and error.candidates:
        candidates = "" if error.hint else f"; there is {', '.join(error.nearest_candidates)}"
        text = f"no overload takes {error.call}{candidates}"
    if error.hint:
        text = f"{text}; {' '.join(error.hint.split())}"
    return _ADDRESS.sub("", _PLACEHOLDER.sub("...", f"{head}: {text}" if head else text))


def withdraw(
    api: CheckerPluginInterface,
    within: Iterable[Context],
    called: tuple[Context, str] | None,
    text: str | None = None,
) -> Context | None:
    """Withdraw mypy's own errors about some parts of the program, and errors that say less than a text.

    An error in a lambda has been reported without the verb of the lambda.

    Args:
        api: mypy's checker.
        within: the parts of the program.
        called: a call, and the name of its function: errors about its type variables are withdrawn.
        text: the text that is reported instead.

    Returns:
        the location of an error that says less than the text; None if there is none.
    """
    location: Context | None = None
    ranges = [((part.line, part.column), _end_position(part)) for part in within]

    def find_remaining(reports: Sequence[Report]) -> Iterator[bool]:
        nonlocal location
        remains, line = True, 0
        for each in reports:
            if each.is_error:  # notes on its line belong to the error before them
                line = each.line
                is_of_mypy = not each.code.startswith("substrait-")
                is_within = any(start <= (each.line, each.column) <= end for start, end in ranges)
                remains = not (is_of_mypy and (is_within or _is_type_variable_error(each, called)))
                if remains and is_within and text is not None and _is_more_specific(text, each.message):
                    remains, location = False, Context(each.line, each.column)
            yield remains or each.line != line

    filter_reports(api, find_remaining)
    return location


def _is_type_variable_error(report: Report, called: tuple[Context, str] | None) -> bool:
    """Whether an error says that the arguments of a call do not fit its type variables."""
    if called is None or report.code != TYPE_VARIABLE:
        return False
    call, verb = called
    return (report.line, report.column) == (call.line, call.column) and f'of "{verb}"' in report.message


_EXPRESSION = re.compile(r"Expr\([^:()]*: ")
"""The text of an expression up to its type. At first, the name is not known."""


def _is_more_specific(text: str, before: str) -> bool:
    """Whether a text says all that a former one says."""
    text, before = (_EXPRESSION.sub("Expr(", each) for each in (text, before))
    return f": {text}".endswith(f": {before}")


def _end_position(location: Context) -> tuple[int, int]:
    """Return where an expression ends. mypy before 2.4 does not know that of a lambda, but of its parts."""
    parts = subexpressions(location) if isinstance(location, Expression) else [location]
    return max((part.end_line or part.line, part.end_column or part.column) for part in parts)


def report_unknown(
    verb: str, node: Context, lost: str, api: CheckerPluginInterface, *, is_relation: bool = False
) -> None:
    """Report why the columns of a result are unknown, if ``substrait-dynamic`` is enabled."""
    if not is_code_enabled(api, DYNAMIC):
        return
    why = describe_unknown(node, is_relation=is_relation)
    with without_filters(api):  # mypy would take it for an objection to the overload that it tries
        api.fail(f"{verb}: the {lost} of the result cannot be told, because {why}", node, code=DYNAMIC)


def describe_unknown(node: Context, *, is_relation: bool = False) -> str:
    """Say of a part of the program that its value, or the columns of its relation, are not known."""
    match node:
        case NameExpr(name=name) | MemberExpr(name=name):
            what = f'"{name}"'
        case CallExpr(callee=MemberExpr(expr=StrExpr())):
            what = "this text"
        case CallExpr(callee=NameExpr(name=name) | MemberExpr(name=name)):
            what = f'"{name}(...)"'
        case _:
            what = "this"
    return f"the columns of {what} are not known" if is_relation else f"{what} is known only when the program runs"
