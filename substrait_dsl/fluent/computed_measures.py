"""Measures that are computed of others: ``sum(x) / count()``, ``coalesce(sum(x), 0)``.

Such a measure has an expression that waits for the row of a group, which has the keys and the values of the aggregate
functions. `fluent.grouping` makes an aggregate of these functions, and a project over it of the expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.algebra.pickling import Recipe
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError, TypeMismatchError, UnknownFieldError, quote
from substrait_dsl.fluent.binding import bind, leaves
from substrait_dsl.fluent.calls import Measure, MeasureBase, measure_node
from substrait_dsl.fluent.column_arguments import sort_keys
from substrait_dsl.fluent.expr import ExprBase, unbound_expr
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.texts import constant

_IN_A_STEP_AFTER = "name the measures, and compute it in with_columns(...) after the aggregate"


class ComputedMeasure(Measure[Any, Any]):
    """What is computed of the values of aggregate functions and of keys, for each group."""

    __slots__ = ("_expression",)

    def __init__(self, expression: ExprBase, name: str | None = None) -> None:
        self._expression, self._name = expression, name

    def _recipe(self) -> Recipe:
        return ComputedMeasure, (self._expression, self._name)

    @property
    def _title(self) -> str:
        return f"the measure of {quote(self._functions)}"

    @property
    def _functions(self) -> list[str]:
        """The names of the aggregate functions in it."""
        found = [each._leaf.args[0] for each in leaves(self._expression) if _is_of_measure(each)]  # type: ignore[union-attr]  # a partial
        return list(dict.fromkeys(measure._call.name for measure in reversed(found)))

    @property
    def _lacks(self) -> str:
        plural = "s" if len(self._functions) > 1 else ""
        return f"this computes with the aggregate function{plural} {', '.join(self._functions)}"

    @property
    def _advice(self) -> str:
        windows = ", ".join(f"{name}(...).over(...)" for name in self._functions)
        return f"name it in aggregate(...), then use the column in with_columns(...); or give windows: {windows}"

    @property
    def _call(self) -> NoReturn:  # type: ignore[override]  # it has none
        self._refuse()

    def _evolve(self, **changed: Any) -> ComputedMeasure:
        if [*changed] != ["_name"]:
            self._refuse()
        return ComputedMeasure(self._expression, changed["_name"])

    def _refuse(self) -> NoReturn:
        called = ", ".join(f"{name}(...).filter(...)" for name in self._functions)
        raise TypeMismatchError(
            f"distinct, filter, order_by, over and frame are of one aggregate function, but {self._lacks}",
            hint=f"write them there: {called}",
        )

    def __repr__(self) -> str:
        from substrait_dsl.fluent.unbound_repr import sketch

        return f"Measure({sketch(self._expression)})"


def compute_from(make: Callable[[Sequence[Any]], ExprBase], operands: Sequence[Any]) -> ComputedMeasure:
    """Return the measure that `make` computes of operands, of which some are measures."""
    return ComputedMeasure(make([_as_expression(each) if isinstance(each, MeasureBase) else each for each in operands]))


def _as_expression(measure: MeasureBase) -> ExprBase:
    if isinstance(measure, ComputedMeasure):
        return measure._expression
    return unbound_expr(partial(_value_of, measure), what=measure._call.name)


def _value_of(measure: MeasureBase, scope: Scope) -> ex.Expression:
    return scope.measure(measure)


def _is_of_measure(leaf: ExprBase) -> bool:
    return isinstance(leaf._leaf, partial) and leaf._leaf.func is _value_of


class GroupScope(Scope):
    """The row of a group: its keys, and the values of aggregate functions, which it gets as they are asked for.

    Args:
        rows: the row of the aggregate's input, which the arguments of the functions see.
        keys: the keys over that row.
        columns: the keys as columns of the aggregate, nullable where a grouping set lacks them.
    """

    __slots__ = ("_key_positions", "_keys", "_measure_positions", "names", "rows")

    def __init__(self, rows: Scope, keys: Sequence[ex.Expression], columns: NamedStruct) -> None:
        super().__init__(rows.verb, rows.inputs, rows.schema)
        self.rows = rows
        self._keys = columns
        self._key_positions: dict[ex.Expression, int] = {}
        for position, key in enumerate(keys):
            if not isinstance(key, ex.Literal):
                self._key_positions.setdefault(key, position)
        self._measure_positions: dict[ex.Measure, int] = {}
        self.names: list[str] = []
        """The names of the measures."""

    @property
    def measures(self) -> tuple[ex.Measure, ...]:
        """The measures of the aggregate, each once."""
        return tuple(self._measure_positions)

    def add(self, node: ex.Measure, name: str) -> int:
        """Return the position of a measure among the columns of the aggregate; it gets the name if it is new."""
        if node not in self._measure_positions:
            self._measure_positions[node] = len(self._keys) + len(self.names)
            self.names.append(name)
        return self._measure_positions[node]

    def measure(self, measure: MeasureBase) -> ex.Expression:
        node = measure_node(measure, self.rows, sort_keys)
        return ex.FieldReference(self.add(node, measure._call.name), node.function.output_type)

    def column(self, column: str | int) -> ex.FieldReference:
        try:
            reference = self.rows.column(column)
        except UnknownFieldError:
            if column not in self._keys.names:
                raise
            return self._key(self._keys.names.index(column))
        return self._rewrite_over_keys(reference)  # type: ignore[return-value]  # a key

    def column_of(self, rel: rl.Rel, column: str | int) -> ex.FieldReference:
        return self._rewrite_over_keys(self.rows.column_of(rel, column))  # type: ignore[return-value]  # a key

    def local(self, expression: ex.Expression, origin: Scope | None) -> ex.Expression:
        return self._rewrite_over_keys(expression) if origin is self.rows else super().local(expression, origin)

    def _key(self, position: int) -> ex.FieldReference:
        return ex.FieldReference(position, self._keys.types[position])

    def _rewrite_over_keys(self, expression: ex.Expression) -> ex.Expression:
        """Rewrite an expression over the row of the input as one over the keys. Raises `SchemaError` if it is none."""
        if (position := self._key_positions.get(expression)) is not None:
            return self._key(position)
        rewritten: dict[int, Node] = {}
        for node in walk(expression, into_relations=False):
            if isinstance(node, ex.WindowFunction):
                raise _window_function_error()
            if isinstance(node, ex.Expression) and (position := self._key_positions.get(node)) is not None:
                rewritten[id(node)] = key = self._key(position)
                if key.type != node.type:
                    name = self._keys.names[position]
                    raise SchemaError(
                        f'the key "{name}" is NULL where a grouping set leaves it out, and this expression uses it as '
                        "required",
                        names=[name],
                        hint=f"write col({constant(name)}) for it, which is the key; or {_IN_A_STEP_AFTER}",
                    )
        return rebuild(expression, self._require_key, into_relations=False, done=rewritten)

    def _require_key(self, node: Node) -> Node:
        match node:
            case ex.FieldReference(root=ex.ROOT, position=position):
                name = self.rows.schema.fields[position].name
                hint = f"functions.any_value(col({constant(name)})) is the value of one of the rows; or make it a key"
                if name in self._keys.names:
                    hint += "; the key of that name is a column in with_columns(...) after the aggregate"
                raise SchemaError(
                    f'column "{name}" is no key, and stands in no aggregate function', names=[name], hint=hint
                )
            case ex.MaskedReference(input=ex.Row(root=ex.ROOT)):
                raise SchemaError("the row of the input is no key", hint=_IN_A_STEP_AFTER)
        return node


def _window_function_error() -> TypeMismatchError:
    return TypeMismatchError(
        "a window function sees the rows of a relation, a measure those of a group", hint=_IN_A_STEP_AFTER
    )


def evaluate_measure(measure: ComputedMeasure, group: GroupScope) -> ex.Expression:
    """Return what a computed measure is over the row of a group.

    Raises `SchemaError` for a column that is no key, and for a subquery that sees the rows of the input,
    `TypeMismatchError` for a window.
    """
    expression = bind(measure._expression, group)
    if any(isinstance(node, ex.WindowFunction) for node in walk(expression, into_relations=False)):
        raise _window_function_error()
    if group.rows.anchor in expression.free_anchors:
        raise SchemaError("a subquery beside a measure cannot use the rows of the input", hint=_IN_A_STEP_AFTER)
    return expression
