"""The window relation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, error_context, quote
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.choices import require_method
from substrait_dsl.fluent.column_arguments import call_function, is_list, key_expression, rows, sort_keys
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.windows import window_call


def window(
    rel: rl.Rel, partition_by: Any, order_by: Any, method: rl.WindowMethod, functions: Mapping[str, Any]
) -> rl.Window:
    """Return the window of the algebra; see `Relation.window`."""
    require_method(method, rl.WINDOW_METHODS, "window-method")
    if not functions:
        raise InvalidArgumentError("expected at least one function, as name=function")
    taken = [name for name in functions if name in rel.schema.names]
    if taken:
        raise SchemaError(f"there is a column {quote(taken)} already", names=[*taken])
    scope = Scope("window", (rel,))
    with error_context(place="partition_by"):
        partitions = tuple(key_expression(key, scope, "partition") for key in _each(partition_by))
    with error_context(place="order_by"):
        sorts = sort_keys(_each(order_by), scope)
    calls: list[ex.WindowCall] = []
    for name, value in functions.items():
        with error_context(place="function", name=name):
            calls.append(window_call(_function(value, scope), scope, sorts))
    return rl.Window(rel, tuple(calls), partitions, sorts, tuple(functions), method, anchor=scope.anchor)


def _each(keys: Any) -> Any:
    return keys if is_list(keys) else [keys]


def _function(value: Any, scope: Scope) -> WindowFunction[Any, Any]:
    if isinstance(value, CatalogFunction):
        raise InvalidArgumentError(f"this is the function {value.name} itself", hint=f"call it: {value.name}(...)")
    if callable(value) and not isinstance(value, ExprBase):
        value = call_function(value, scope, rows(scope))
    match value:
        case WindowFunction():
            return value
        case Measure():
            return value.windowed()
        case ExprBase():
            raise TypeMismatchError(
                "expected a window or an aggregate function, got an expression",
                hint="leave .over(...) away here: the window is that of the relation; or use with_columns(...)",
            )
    raise InvalidArgumentError("expected a window or an aggregate function", got=value)
