"""All that the plugin uses of mypy beyond its documented interface for plugins.

What mypy documents are `mypy.plugin`, and the trees and types that it hands over (`mypy.nodes`, `mypy.patterns`,
`mypy.types`). All else may change with each minor version. So no other module of the plugin imports it, or reads an
attribute of it: each function here is one use, and has a test that fails when mypy no longer has what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from mypy.erasetype import erase_typevars as _erase_typevars
from mypy.errorcodes import TYPE_VAR as _TYPE_VAR
from mypy.errorcodes import ErrorCode as ErrorCode
from mypy.indirection import TypeIndirectionVisitor
from mypy.lookup import lookup_fully_qualified
from mypy.nodes import (
    CallExpr,
    Context,
    Expression,
    FuncItem,
    LambdaExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    TypeInfo,
    Var,
)
from mypy.operators import op_methods, reverse_op_methods
from mypy.server.trigger import make_trigger as _make_trigger
from mypy.server.trigger import make_wildcard_trigger as _make_wildcard_trigger
from mypy.subtypes import is_subtype as _is_subtype
from mypy.types import FunctionLike, Type
from mypy.version import __version__

if TYPE_CHECKING:
    from mypy.checker import TypeChecker
    from mypy.errors import ErrorInfo, ErrorWatcher
    from mypy.plugin import CheckerPluginInterface, ClassDefContext

VERSION: str = __version__
"""The version of mypy."""

TYPE_VARIABLE: str = _TYPE_VAR.code
"""The code of errors about type variables that the arguments of a call do not fit."""

OPERATOR_METHODS: Mapping[str, str] = op_methods
"""The methods of operators of left operands, such as ``__add__``."""

REVERSE_METHODS: Mapping[str, str] = reverse_op_methods
"""The methods of operators of right operands, such as ``__radd__``, by those of left ones."""


def _checker(api: CheckerPluginInterface) -> TypeChecker:
    """Return mypy's checker, of which the interface for plugins shows a part."""
    checker: TypeChecker = api  # type: ignore[assignment]  # there is no other implementation
    return checker


# --- types


def find_class(api: CheckerPluginInterface, fullname: str) -> TypeInfo:
    """Return a class by its full name, in whatever module it is."""
    symbol = lookup_fully_qualified(fullname, _checker(api).modules, raise_on_missing=True)
    assert symbol is not None
    assert isinstance(symbol.node, TypeInfo)
    return symbol.node


def find_module(api: CheckerPluginInterface, fullname: str) -> MypyFile | None:
    """Return a module that mypy has read, or its cache."""
    return _checker(api).modules.get(fullname)


def find_type(api: CheckerPluginInterface, node: Expression) -> Type | None:
    """Return the type that mypy has found for an expression; None if it has not checked the expression."""
    checker = _checker(api)
    return checker.lookup_type(node) if checker.has_type(node) else None


def find_item_type(api: CheckerPluginInterface, type_: Type, node: Context) -> Type:
    """Return the type of the items of an iterable."""
    _, item = _checker(api).analyze_iterable_item_type_without_expression(type_, node)
    return item


def find_member_type(api: CheckerPluginInterface, name: str, owner: Type, node: MemberExpr) -> Type:
    """Return the declared type of an attribute or method."""
    return _checker(api).expr_checker.analyze_external_member_access(name, owner, node)


def is_subtype(left: Type, right: Type) -> bool:
    """Whether a type is a subtype of another one."""
    return _is_subtype(left, right)


def is_argument(left: Type, right: Type) -> bool:
    """Whether a type is one that a parameter takes, whatever its type variables are."""
    return _is_subtype(left, _erase_typevars(right))


def find_modules(types: Iterable[Type]) -> set[str]:
    """Return the modules of the classes in some types."""
    return TypeIndirectionVisitor().find_modules(types)


# --- where the checker is


def find_tree(api: CheckerPluginInterface) -> MypyFile:
    """Return the tree of the file that is being checked."""
    return _checker(api).tree


def find_current_target(api: CheckerPluginInterface) -> str:
    """Return the name of the function that is being checked; outside of functions that of the module."""
    return _checker(api).tscope.current_target()


def find_current_function(api: CheckerPluginInterface) -> FuncItem | None:
    """Return the function or lambda that is being checked; None outside of functions."""
    return _checker(api).scope.current_function()


def is_in_lambda(api: CheckerPluginInterface) -> bool:
    """Whether a lambda is being checked."""
    return isinstance(find_current_function(api), LambdaExpr)


def set_variable_type(api: CheckerPluginInterface, variable: Var, type_: Type) -> None:
    """Change the type that mypy has inferred for a variable, from here on."""
    checker = _checker(api)
    variable.type = type_
    if checker.options.allow_redefinition:
        name = NameExpr(variable.name)
        name.node = variable
        checker.binder.assign_type(name, type_, type_)


# --- checking a call


class CheckedCall:
    """A call that mypy has checked with a signature: the type of the result, and the errors, which are not shown."""

    def __init__(self, type_: Type, errors: ErrorWatcher, checker: TypeChecker) -> None:
        self.type_ = type_
        self._errors = errors
        self._checker = checker

    @property
    def has_errors(self) -> bool:
        """Whether mypy has found an error."""
        return self._errors.has_new_errors()

    def show_errors(self) -> None:
        """Show the errors."""
        self._checker.msg.add_errors(self._errors.filtered_errors())


def check_call(
    api: CheckerPluginInterface,
    call: CallExpr,
    callee: FunctionLike,
    arguments: Sequence[Expression],
    receiver: Type | None,
    *,
    is_expected: bool,
) -> CheckedCall:
    """Let mypy check a call with a signature.

    Args:
        api: mypy's checker.
        call: the call.
        callee: the signature.
        arguments: the arguments, in place of those of the call.
        receiver: the type that a method is called on.
        is_expected: whether the type that is expected where the call stands may determine type variables.
    """
    checker = _checker(api)
    expressions = checker.expr_checker
    overrides, expected = expressions.type_overrides, expressions.type_context
    expressions.type_overrides = dict(overrides)  # mypy sets and deletes those of the arguments around it
    expected.append(expected[-1] if is_expected else None)
    try:
        with checker.msg.filter_errors(save_filtered_errors=True) as errors:
            result, _ = expressions.check_call(
                callee, list(arguments), call.arg_kinds, call, call.arg_names, object_type=receiver
            )
    finally:
        expected.pop()
        expressions.type_overrides = overrides
    return CheckedCall(result, errors, checker)


# --- errors


class Report(NamedTuple):
    """An error or a note of mypy's that has been reported."""

    message: str
    code: str
    """The code; empty if there is none."""
    line: int
    column: int
    is_error: bool


def show_error(api: CheckerPluginInterface, text: str, location: Context, code: ErrorCode) -> None:
    """Report an error. In a lambda it belongs to the module, else mypy's daemon does not know where it belongs."""
    info: ErrorInfo | None = api.fail(text, location, code=code)
    if info is not None and not info.target:
        info.target = info.module


def show_note(api: CheckerPluginInterface, text: str, location: Context, code: ErrorCode | None = None) -> None:
    """Report a note."""
    api.msg.note(text, location, code=code)


def show_class_note(context: ClassDefContext, text: str, code: ErrorCode) -> None:
    """Report a note about a class that is being analyzed."""
    context.api.note(text, context.cls, code=code)  # type: ignore[attr-defined]  # mypy's own analyzer has it


def show_unsupported_operands(
    api: CheckerPluginInterface, operator: str, left: Type | None, right: Type | None, location: Context
) -> None:
    """Report that an operator does not take its operands, in mypy's own words."""
    api.msg.unsupported_operand_types(operator, left, right, location)


def is_code_enabled(api: CheckerPluginInterface, code: ErrorCode) -> bool:
    """Whether errors of a code are shown."""
    return api.msg.errors.is_error_code_enabled(code)


def is_reporting(api: CheckerPluginInterface) -> bool:
    """Whether errors are shown or kept: mypy drops them while it tries which overload of a function fits."""
    watchers = api.msg.errors._watchers
    return all(watcher._filter is False or watcher._filtered is not None for watcher in watchers)


@contextmanager
def without_filters(api: CheckerPluginInterface) -> Iterator[None]:
    """Show errors though mypy is trying something, and let mypy continue as if there were none.

    Otherwise it would try the ``==`` of `object` next, or take the result of an operator for `Any` and report that.
    """
    errors = api.msg.errors
    watchers = errors._watchers[:]
    errors._watchers.clear()
    try:
        yield
    finally:
        errors._watchers.extend(watchers)


def filter_reports(api: CheckerPluginInterface, find_remaining: Callable[[Sequence[Report]], Iterable[bool]]) -> None:
    """Withdraw reports: those of a file, and those that mypy may show when it has checked an expression.

    Args:
        api: mypy's checker.
        find_remaining: says which ones of a list remain. It is called once for each list.
    """
    errors = api.msg.errors
    lists = [errors.error_info_map.get(errors.file, [])]
    lists += [watcher._filtered for watcher in errors._watchers if watcher._filtered is not None]
    for infos in lists:
        reports = [
            Report(info.message, info.code.code if info.code else "", info.line, info.column, info.severity == "error")
            for info in infos
        ]
        infos[:] = compress(list(infos), find_remaining(reports))


def is_traceback_shown(context: Any) -> bool:
    """Whether mypy runs with ``--show-traceback``. Every context of a hook says so."""
    return bool(context.api.options.show_traceback)


# --- dependencies


def make_trigger(fullname: str) -> str:
    """Return the name of an event of mypy's daemon: an object has changed."""
    return _make_trigger(fullname)


def make_wildcard_trigger(fullname: str) -> str:
    """Return the name of an event of mypy's daemon: anything in an object has changed."""
    return _make_wildcard_trigger(fullname)


def add_dependencies(api: CheckerPluginInterface, fullnames: Iterable[str]) -> None:
    """Let mypy's daemon check the current function again when one of some objects changes."""
    checker = _checker(api)
    if checker.options.fine_grained_incremental or checker.options.cache_fine_grained:
        for fullname in fullnames:
            checker.tree.plugin_deps.setdefault(_make_trigger(fullname), set()).add(checker.tscope.current_target())
