"""The mypy plugin: it infers the columns of every step of a pipeline.

    [tool.mypy]
    plugins = ["substrait_dsl.mypy_plugin"]

mypy asks it for the type of a call of the fluent API, and it makes that very call, with placeholders for the values
(see `placeholders`). The library is loaded at the first such call, so that mypy starts as fast as without the plugin.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from operator import attrgetter
from typing import Any, TypeVar

from mypy.nodes import FuncDef, MypyFile, SymbolTableNode, TypeInfo
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import CallableType, FunctionLike, Type

from substrait_dsl.mypy_plugin import codes as codes  # mypy must know them before it reads which are wanted
from substrait_dsl.mypy_plugin.container_types import METHODS, holds_relations
from substrait_dsl.mypy_plugin.digest import compute_digest, compute_digest_of_metadata
from substrait_dsl.mypy_plugin.mypy_internals import VERSION, is_traceback_shown
from substrait_dsl.mypy_plugin.versions import require_tested

require_tested(VERSION)

C = TypeVar("C")
R = TypeVar("R")

_PACKAGE = "substrait_dsl."
_PARTIQL = "substrait_dsl.partiql."
"""Its calls are not evaluated: mypy checks them by their signatures."""
_ROWS = ("substrait_dsl.fluent.rows.Row.", "substrait_dsl.fluent.schemas.DynRow.")
_FUNCTIONS = "substrait_dsl.functions."
_OPERATORS = (
    "substrait_dsl.fluent.operators.Operators.__",
    "substrait_dsl.fluent.expr.Expr.__",
    "substrait_dsl.fluent.measure_operators.MeasureOperators.__",
)
_DESCRIPTOR = ".__get__"
_ITEM = "substrait_dsl.fluent.relation.Relation.__getitem__"
_GETITEM = ".__getitem__"
_REVEAL = "substrait_dsl.fluent.reveal.reveal_schema"
_END_OF_FILE = "substrait_dsl.mypy_plugin.file_checks.end_of_file"


class SubstraitPlugin(Plugin):
    """Hooks for the names of this library."""

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        """Return what the answers depend on beside the program: when it changes, mypy checks everything again."""
        if ctx.is_check and self._is_reported(ctx.path):
            return "to be checked again"
        return [compute_digest(), compute_digest_of_metadata(ctx.path)]

    @staticmethod
    def _is_reported(path: str) -> bool:
        """Whether a module is checked whatever mypy's caches say, because a report is being made of it."""
        report = sys.modules.get("substrait_dsl.mypy_plugin.typing_report")
        return report is not None and bool(report.is_reported(path))

    def get_additional_indirect_deps(self, file: MypyFile) -> set[str]:
        """Return the modules on which the answers for a module depend, beside those that its types name."""
        from substrait_dsl.mypy_plugin import declarations

        return declarations.find_dependencies(file)

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if fullname.startswith(_PACKAGE):
            return _function_hook(fullname)
        return self._open_function_hook(fullname) or self._helper_hook(fullname)

    def _helper_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        symbol = self._look_up(fullname)
        if symbol is None or not isinstance(symbol.node, FuncDef):
            return None
        from substrait_dsl.mypy_plugin.open_signatures import gives_relation

        return _check_helper_call if gives_relation(symbol) else None

    def _look_up(self, fullname: str) -> SymbolTableNode | None:
        """Return what a name of the program means; None for those of Python."""
        return None if fullname.startswith("builtins.") else self.lookup_fully_qualified(fullname)

    def _open_function_hook(self, fullname: str) -> Callable[[FunctionContext | MethodContext], Type] | None:
        signature = self._find_open_signature(fullname)
        if signature is None:
            return None
        from substrait_dsl.mypy_plugin import open_parameters

        return guard(partial(open_parameters.check_arguments, declared=signature), attrgetter("default_return_type"))

    def _find_open_signature(self, fullname: str) -> CallableType | None:
        """Return the signature of a function that asks for at least some columns; None for any other function."""
        symbol = self._look_up(fullname)
        declared = getattr(symbol.node, "type", None) if symbol is not None else None
        if symbol is None or not isinstance(declared, CallableType) or not declared.variables:
            return None
        from substrait_dsl.mypy_plugin.open_signatures import find_signature

        return find_signature(symbol)

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        if fullname.startswith(_PARTIQL) or fullname == _END_OF_FILE:
            return None
        is_of_library = fullname.startswith(_PACKAGE)
        return _function_signature_hook(fullname) if is_of_library else self._schema_signature_hook(fullname)

    def _schema_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        symbol = self.lookup_fully_qualified(fullname)
        if symbol is None or not isinstance(symbol.node, TypeInfo):
            return self._open_signature_hook(fullname)
        from substrait_dsl.mypy_plugin import declarations, signatures

        hook = signatures.accept_any_structs if declarations.is_schema_base(symbol) else None
        return hook and guard(hook, attrgetter("default_signature"))

    def _open_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext | MethodSigContext], FunctionLike] | None:
        signature = self._find_open_signature(fullname)
        if signature is None:
            return None
        from substrait_dsl.mypy_plugin import open_parameters

        hook = partial(open_parameters.accept_any_columns, declared=signature)
        return guard(hook, attrgetter("default_signature"))

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        if fullname in METHODS:
            return _widen_container
        is_of_library = fullname.startswith(_PACKAGE)
        if is_of_library and fullname.endswith(_DESCRIPTOR):  # a column of a row
            _check_file_later()
            return None
        if not is_of_library and fullname.endswith(_GETITEM) and self._is_schema(fullname.removesuffix(_GETITEM)):
            return _method_hook(_ITEM)
        return _method_hook(fullname) if is_of_library else self._open_function_hook(fullname)

    def _is_schema(self, fullname: str) -> bool:
        symbol = self._look_up(fullname)
        if symbol is None:
            return False
        from substrait_dsl.mypy_plugin import declarations

        return declarations.is_schema_base(symbol)

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        if fullname in METHODS:
            return _accept_any_columns
        if not fullname.startswith(_PACKAGE):
            return self._open_signature_hook(fullname)
        return None if fullname.startswith(_PARTIQL) else _method_signature_hook(fullname)

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        return _attribute_hook(fullname) if fullname.startswith(_ROWS) else None

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        symbol = self.lookup_fully_qualified(fullname)
        from substrait_dsl.mypy_plugin import declarations

        return guard(_check_schema_class, lambda _: None) if declarations.is_schema_base(symbol) else None


# mypy asks for the hook of a name at each use of the name; it is made once.


@cache
def _function_hook(fullname: str) -> Callable[[FunctionContext], Type]:
    from substrait_dsl.mypy_plugin import calls, rows

    if fullname == _END_OF_FILE:
        from substrait_dsl.mypy_plugin.file_checks import check_file

        return guard(check_file, attrgetter("default_return_type"), is_last=True)
    hook = rows.reveal_schema if fullname == _REVEAL else partial(calls.infer_function_call, fullname=fullname)
    return guard(hook, attrgetter("default_return_type"))


@cache
def _function_signature_hook(fullname: str) -> Callable[[FunctionSigContext], FunctionLike]:
    from substrait_dsl.mypy_plugin import signatures

    hook = signatures.accept_any_arguments if fullname.startswith(_FUNCTIONS) else signatures.accept_any_results
    return guard(hook, attrgetter("default_signature"))


@cache
def _method_hook(fullname: str) -> Callable[[MethodContext], Type]:
    from substrait_dsl.mypy_plugin import calls, operators, rows

    if fullname == _ITEM:
        return guard(rows.infer_item, attrgetter("default_return_type"))
    hook = operators.infer_operator if fullname.startswith(_OPERATORS) else calls.infer_method_call
    return guard(partial(hook, name=fullname.rpartition(".")[2]), attrgetter("default_return_type"))


def _check_helper_call(context: FunctionContext) -> Type:
    from substrait_dsl.mypy_plugin.helper_call_checks import check_call

    hook: Callable[[FunctionContext], Type] = guard(check_call, attrgetter("default_return_type"))
    return hook(context)


def _widen_container(context: MethodContext) -> Type:
    if not holds_relations(context.type):
        return context.default_return_type
    from substrait_dsl.mypy_plugin.containers import widen_variable

    hook: Callable[[MethodContext], Type] = guard(widen_variable, attrgetter("default_return_type"))
    return hook(context)


def _accept_any_columns(context: MethodSigContext) -> FunctionLike:
    if not holds_relations(context.type):
        return context.default_signature
    from substrait_dsl.mypy_plugin.containers import accept_any_columns

    hook: Callable[[MethodSigContext], FunctionLike] = guard(accept_any_columns, attrgetter("default_signature"))
    return hook(context)


@cache
def _method_signature_hook(fullname: str) -> Callable[[MethodSigContext], FunctionLike]:
    from substrait_dsl.mypy_plugin import operators, signatures

    if fullname == _ITEM:
        return guard(signatures.accept_any_item, attrgetter("default_signature"))
    name = fullname.rpartition(".")[2]
    is_operator = fullname.startswith(_OPERATORS) and name in operators.BINARY
    hook = partial(operators.OPERATORS.infer_signature, name=name) if is_operator else signatures.accept_any_results
    return guard(hook, attrgetter("default_signature"))


@cache
def _attribute_hook(fullname: str) -> Callable[[AttributeContext], Type]:
    from substrait_dsl.mypy_plugin import rows

    return guard(partial(rows.infer_attribute, name=fullname.rpartition(".")[2]), attrgetter("default_attr_type"))


def _check_schema_class(context: ClassDefContext) -> None:
    from substrait_dsl.mypy_plugin import declarations, schema_classes

    declarations.record_columns(context)
    schema_classes.check(context)


def _check_file_later() -> None:
    _find_defer()()


@cache
def _find_defer() -> Callable[[], None]:
    from substrait_dsl.mypy_plugin.file_checks import defer

    return defer


def guard(hook: Callable[[C], R], default: Callable[[C], R], *, is_last: bool = False) -> Callable[[C], R]:
    """Return a hook that, where it fails, reports that in a note and gives mypy's own answer.

    So an error of the plugin does not end mypy. With ``--show-traceback`` the error is raised all the same. Each hook
    but the last has the file checked as a whole at its end.
    """

    def guarded_hook(context: C) -> R:
        try:
            if not is_last:
                _check_file_later()
            return hook(context)
        except Exception as error:
            if is_traceback_shown(context):
                raise
            from substrait_dsl.mypy_plugin.reports import report_failure

            report_failure(error, context)
            return default(context)

    return guarded_hook


def plugin(version: str) -> type[Plugin]:
    """Return the class of the plugin: the entry point that mypy calls."""
    return SubstraitPlugin
