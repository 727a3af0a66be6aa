"""A plugin of mypy that calls each function of `mypy_internals` while mypy checks a small program."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import CallExpr, MemberExpr, NameExpr, TempNode, Var
from mypy.options import Options
from mypy.plugin import ClassDefContext, FunctionContext, Plugin
from mypy.types import CallableType, Instance, Type, get_proper_type

from substrait_dsl.mypy_plugin import mypy_internals as internals

PROGRAM = """\
class A:
    def method(self, x: int) -> str:
        return ""
class B(A):
    pass
def probe(x: object, y: object = None) -> int:
    return 0
values: list[A] = []
probe(values, A().method(1))
def function() -> None:
    probe(values)
call = lambda: probe(values)
reveal_type(values)
"""
ENABLED = internals.ErrorCode("probe", "An error of the probe.", "Probe")
DISABLED = internals.ErrorCode("probe-disabled", "Another one.", "Probe", default_enabled=False)

RESULTS: dict[str, Any] = {}
"""What each use of mypy has returned or raised, by its name."""


class ProbePlugin(Plugin):
    """Hooks for the functions and classes of the program."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _probe if fullname == "program.probe" else None

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return _probe_class if fullname == "program.A" else None


def plugin(version: str) -> type[Plugin]:
    return ProbePlugin


def check_program(config_file: str) -> list[str]:
    """Let mypy check the program. Return what it reports."""
    options = Options()
    options.config_file = config_file
    options.plugins = [__name__]
    options.incremental = False
    options.cache_fine_grained = True
    options.show_traceback = True
    options.hide_error_codes = False
    reports: list[str] = []
    sources = [BuildSource("program.py", "program", PROGRAM)]
    build.build(sources, options, flush_errors=lambda _, new, __: reports.extend(new), stderr=io.StringIO())
    return reports


def _record(name: str, function: Callable[[], Any]) -> None:
    try:
        RESULTS[name] = function()
    except Exception as error:
        RESULTS[name] = error


def _probe_class(context: ClassDefContext) -> None:
    _record("show_class_note", lambda: internals.show_class_note(context, "a note about a class", ENABLED))


def _probe(context: FunctionContext) -> Type:
    api = context.api
    if internals.is_in_lambda(api):
        RESULTS["is_in_lambda"] = True
        _record("show_error", lambda: internals.show_error(api, "an error in a lambda", context.context, ENABLED))
        _record("target", lambda: _last_target(api))
    elif len(context.args) > 1 and context.args[1]:
        _record("find_current_target", lambda: internals.find_current_target(api))
        _probe_types(context)
        _probe_calls(context)
        _probe_errors(context)
    else:
        RESULTS["is_in_lambda_of_function"] = False
        _record("find_current_function", lambda: getattr(internals.find_current_function(api), "fullname", None))
        _record("find_current_target_in_function", lambda: internals.find_current_target(api))
    return context.default_return_type


def _probe_types(context: FunctionContext) -> None:
    api, values = context.api, context.args[0][0]
    base, derived = (Instance(internals.find_class(api, f"program.{name}"), []) for name in "AB")
    _record("find_class", lambda: internals.find_class(api, "program.A").fullname)
    _record(
        "find_module", lambda: [getattr(internals.find_module(api, name), "fullname", None) for name in ("re", "r")]
    )
    _record("find_type", lambda: _name(internals.find_type(api, values)))
    _record("find_type_unchecked", lambda: internals.find_type(api, TempNode(base)))
    _record("find_item_type", lambda: _name(internals.find_item_type(api, context.arg_types[0][0], values)))
    _record("is_subtype", lambda: (internals.is_subtype(derived, base), internals.is_subtype(base, derived)))
    row = internals.find_class(api, "builtins.list")
    open_list = Instance(row, [row.defn.type_vars[0]])
    filled = [Instance(row, [base]), base]
    _record("is_argument", lambda: [internals.is_argument(each, open_list) for each in filled])
    _record("find_modules", lambda: internals.find_modules([context.arg_types[0][0]]))
    variable = values.node if isinstance(values, NameExpr) else None
    assert isinstance(variable, Var)
    type_ = Instance(internals.find_class(api, "builtins.list"), [derived])
    _record("set_variable_type", lambda: internals.set_variable_type(api, variable, type_))
    _record("variable_type", lambda: str(variable.type))
    _record("find_tree", lambda: internals.find_tree(api).fullname)
    _record("is_traceback_shown", lambda: internals.is_traceback_shown(context))
    _record("add_dependencies", lambda: internals.add_dependencies(api, ["program.A"]))
    _record("dependencies", lambda: dict(internals.find_tree(api).plugin_deps))


def _probe_calls(context: FunctionContext) -> None:
    api, call = context.api, context.args[1][0]
    assert isinstance(call, CallExpr)
    assert isinstance(call.callee, MemberExpr)
    owner = Instance(internals.find_class(api, "program.A"), [])
    method = get_proper_type(internals.find_member_type(api, "method", owner, call.callee))
    assert isinstance(method, CallableType)
    RESULTS["find_member_type"] = [*map(_name, method.arg_types), _name(method.ret_type)]

    def check(name: str) -> internals.CheckedCall:
        argument = TempNode(api.named_generic_type(name, []), context=call)
        return internals.check_call(api, call, method, [argument], owner, is_expected=True)

    _record("check_call", lambda: (_name(check("builtins.int").type_), check("builtins.int").has_errors))
    _record("check_call_with_error", lambda: check("builtins.str").has_errors)
    _record("show_errors", lambda: check("builtins.bytes").show_errors())


def _probe_errors(context: FunctionContext) -> None:
    api, call = context.api, context.context
    _record("show_note", lambda: internals.show_note(api, "a note", call))
    integer, text = (api.named_generic_type(f"builtins.{name}", []) for name in ("int", "str"))
    _record("show_unsupported_operands", lambda: internals.show_unsupported_operands(api, "+", integer, text, call))
    _record("is_code_enabled", lambda: [internals.is_code_enabled(api, code) for code in (ENABLED, DISABLED)])
    reporting = [internals.is_reporting(api)]
    with api.msg.filter_errors():
        reporting.append(internals.is_reporting(api))
        with internals.without_filters(api):
            internals.show_error(api, "an error through a filter", call, ENABLED)
        internals.show_error(api, "a filtered error", call, ENABLED)
    with api.msg.filter_errors(save_filtered_errors=True) as kept:
        reporting.append(internals.is_reporting(api))
        internals.show_error(api, "a withdrawn error", call, ENABLED)
        _record("filter_reports_kept", lambda: internals.filter_reports(api, _keep))
        RESULTS["kept"] = [info.message for info in kept.filtered_errors()]
    RESULTS["is_reporting"] = reporting
    internals.show_error(api, "a withdrawn error", call, ENABLED)
    _record("filter_reports", lambda: internals.filter_reports(api, _keep))


def _keep(reports: Any) -> list[bool]:
    RESULTS.setdefault("reports", []).extend(each for each in reports if each.message == "a withdrawn error")
    return [each.message != "a withdrawn error" for each in reports]


def _name(type_: Type | None) -> str | None:
    """Return the full name of the class of a type."""
    proper = get_proper_type(type_)
    return proper.type.fullname if isinstance(proper, Instance) else None


def _last_target(api: Any) -> str | None:
    """Return what the last report belongs to."""
    infos = api.errors.error_info_map[api.errors.file]
    return str(infos[-1].target)
