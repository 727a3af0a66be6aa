"""What the plugin says, and where.

An error of the library's own tree becomes an error of mypy with the same words; its code says which kind it is, so that
``# type: ignore[substrait-unknown-field]`` and ``disable_error_code`` work as for mypy's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mypy.errorcodes import TYPE_VAR
from mypy.nodes import CallExpr, Context, Expression, LambdaExpr, MemberExpr, NameExpr, StrExpr
from mypy.plugin import ClassDefContext

from substrait_dsl import errors
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.codes import CODES, DYNAMIC, FAILURE
from substrait_dsl.mypy_plugin.placeholders import NAMELESS
from substrait_dsl.mypy_plugin.source_positions import subexpressions

if TYPE_CHECKING:
    from mypy.checker import TypeChecker
    from mypy.errors import ErrorInfo, Errors
    from mypy.plugin import CheckerPluginInterface

_INNER = r"<[^<>]*>"
_PLACEHOLDER = re.compile(rf"parameter\(1\d{{9}}\):[a-z_\d!]+(<([^<>]|<([^<>]|{_INNER})*>)*>)?\??")
"""How an expression reads of which only the type is known."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
"""Where a function is in the memory of mypy: a different place each time, and no matter of the program's."""


def report(
    error: errors.SubstraitDslError,
    api: CheckerPluginInterface,
    location: Context,
    within: Iterable[Context] = (),
    called: tuple[Context, str] | None = None,
) -> bool:
    """Say what a mistake is, unless it is only about what mypy does not know; whether it has been said.

    Args:
        error: what the library says.
        api: mypy's checker.
        location: where the mistake is.
        within: where mypy may have said in its own words that something is wrong; these words stand instead.
        called: the call that is wrong, and what it calls; mypy may have said so of its type variables.
    """
    if UNKNOWN.name in str(error) or NAMELESS in str(error):
        return False
    text = format_error(error)
    if is_reporting(api.msg.errors):
        location = withdraw(api.msg.errors, within, called, text) or location
    code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), CODES[errors.SchemaError])
    said = api.fail(text, location, code=code)
    if said is not None and not said.target:
        said.target = said.module  # else mypy's daemon does not know to which part of a module a lambda belongs
    return True


def report_failure(error: Exception, context: Any) -> None:
    """Say that the plugin has failed at a part of the program, whatever mypy was about to ask it."""
    said = f"the plugin of substrait_dsl has failed here ({type(error).__name__}), and mypy's own types stand; "
    said += "mypy --show-traceback says where it failed: please report it"
    if isinstance(context, ClassDefContext):
        context.api.note(said, context.cls, code=FAILURE)  # type: ignore[attr-defined]  # mypy's own analyser has it
        return
    with without_filters(context.api.msg.errors):
        context.api.msg.note(said, context.context, code=FAILURE)


def format_error(error: errors.SubstraitDslError) -> str:
    """What an error says, in one line."""
    head = ", ".join(part for part in (error.verb, error.place) if part)
    said = error.message
    if isinstance(error, errors.FunctionNotFoundError) and error.candidates:
        there = "" if error.hint else f"; there is {', '.join(error.nearest_candidates)}"
        said = f"no overload takes {error.call}{there}"
    if error.hint:
        said = f"{said}; {' '.join(error.hint.split())}"
    return _ADDRESS.sub("", _PLACEHOLDER.sub("...", f"{head}: {said}" if head else said))


def is_in_lambda(api: CheckerPluginInterface) -> bool:
    """Whether a lambda is being checked: the verb that it is given to will say what is wrong in it, and better."""
    checker: TypeChecker = api  # type: ignore[assignment]  # mypy's own checker is the only one
    return isinstance(checker.scope.current_function(), LambdaExpr)


def withdraw(
    reported: Errors, within: Iterable[Context], called: tuple[Context, str] | None, text: str | None = None
) -> Context | None:
    """Take back what mypy has said in its own words about some parts of the program, and what says less than a text.

    In a lambda the mistake has been said without the verb that the lambda is given to: then where that stood.
    """
    location: Context | None = None
    places = [((location.line, location.column), _end_position(location)) for location in within]
    for said in _reported_lists(reported):
        kept: list[ErrorInfo] = []
        is_kept, line = True, 0
        for info in said:
            if info.severity == "error":  # notes on its line belong to the error before them
                line = info.line
                of_mypy = info.code is None or not info.code.code.startswith("substrait-")
                there = any(start <= (info.line, info.column) <= end for start, end in places)
                is_kept = not (of_mypy and (there or _is_type_variable_error(info, called)))
                if is_kept and there and text is not None and _is_more_specific(text, info.message):
                    is_kept, location = False, Context(info.line, info.column)
            if is_kept or info.line != line:
                kept.append(info)
        said[:] = kept
    return location


def _is_type_variable_error(info: ErrorInfo, called: tuple[Context, str] | None) -> bool:
    """Whether mypy has said of a call that a type variable of it cannot be what it is given."""
    if called is None or info.code is not TYPE_VAR:
        return False
    call, verb = called
    return (info.line, info.column) == (call.line, call.column) and f'of "{verb}"' in info.message


_EXPRESSION = re.compile(r"Expr\([^:()]*: ")
"""How an expression reads, up to its type; its name is not known at first."""


def _is_more_specific(text: str, before: str) -> bool:
    """Whether a text says all that another one says that was said before it."""
    whole, part = (_EXPRESSION.sub("Expr(", said) for said in (text, before))
    return f": {whole}".endswith(f": {part}")


def _end_position(location: Context) -> tuple[int, int]:
    """Where a part of the program ends; mypy before 2.4 does not know it of a lambda, but of what is in it."""
    inside = subexpressions(location) if isinstance(location, Expression) else [location]
    return max((part.end_line or part.line, part.end_column or part.column) for part in inside)


def _reported_lists(reported: Errors) -> Iterator[list[ErrorInfo]]:
    """What mypy has said of a file, and what it has put by to say, perhaps, when an expression has been checked."""
    yield reported.error_info_map.get(reported.file, [])
    for watcher in reported._watchers:
        if watcher._filtered is not None:
            yield watcher._filtered


def is_reporting(reported: Errors) -> bool:
    """Whether what is reported now will be said: not while mypy only tries which overload of a function fits."""
    return all(watcher._filter is False or watcher._filtered is not None for watcher in reported._watchers)


@contextmanager
def without_filters(reported: Errors) -> Iterator[None]:
    """What is reported now is said though mypy is only trying something, and mypy goes on as if nothing were wrong.

    Otherwise, it would try object's ``==`` next, or take what an operator gives for `Any` and say so, too.
    """
    watchers = reported._watchers[:]
    reported._watchers.clear()
    try:
        yield
    finally:
        reported._watchers.extend(watchers)


def report_unknown(
    verb: str, node: Context, lost: str, api: CheckerPluginInterface, *, is_relation: bool = False
) -> None:
    """Say why the columns of what a verb gives cannot be told: an opt-in report, about no mistake."""
    if not api.msg.errors.is_error_code_enabled(DYNAMIC):
        return
    match node:
        case NameExpr(name=name) | MemberExpr(name=name):
            what = f'"{name}"'
        case CallExpr(callee=MemberExpr(expr=StrExpr())):
            what = "this text"
        case CallExpr(callee=NameExpr(name=name) | MemberExpr(name=name)):
            what = f'"{name}(...)"'
        case _:
            what = "this"
    why = f"the columns of {what} are not known" if is_relation else f"{what} is known only when the program runs"
    with without_filters(api.msg.errors):  # mypy would take it for an objection to the overload that it tries
        api.fail(f"{verb}: the {lost} of the result cannot be told, because {why}", node, code=DYNAMIC)
