"""Aggregates: keys, grouping sets and measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import combinations
from typing import TYPE_CHECKING, Any, Generic, NoReturn

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.rules import aggregate_schema
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Decimal, Number
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    quote,
    suggestion,
)
from substrait_dsl.fluent.calls import MeasureBase, WindowFunction, measure_node
from substrait_dsl.fluent.choices import require_method
from substrait_dsl.fluent.column_arguments import (
    Picked,
    Role,
    call_function,
    chosen_column,
    compute,
    is_list,
    keys_of,
    require_distinct,
    rows,
    sort_keys,
    unused_names,
)
from substrait_dsl.fluent.computed_measures import ComputedMeasure, GroupScope, evaluate_measure
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.guidance import no_attribute
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.signature_errors import Called
from substrait_dsl.texts import constant

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.fluent.reshaping import Values

S = TypeVar("S", bound=Schema, covariant=True, default=DynRow | Any)
S_ = TypeVar("S_", bound=Schema)
K = TypeVar("K", bound=Schema, covariant=True, default=DynRow)

MeasureLike = MeasureBase | Callable[[S_], MeasureBase]
"""A measure, or a lambda that gets the row and returns one."""

SET_INDEX = "grouping_set"
"""The default name of the grouping set index."""


def aggregate(
    rel: rl.Rel,
    keys: Sequence[Any],
    named_keys: Mapping[str, Any],
    grouping_sets: Sequence[Sequence[str | int]] | None,
    measures: Sequence[Any],
    named_measures: Mapping[str, Any],
    method: rl.AggregateMethod = "any",
) -> rl.Rel:
    """Return the aggregate of the algebra, and a project over it for computed measures; see `Relation.aggregate`."""
    require_method(method, rl.AGGREGATE_METHODS, "aggregate-method")
    scope = Scope("aggregate", (rel,))
    grouped = keys_of(keys, scope)
    grouped += [(name, _key(name, value, scope)) for name, value in named_keys.items()]
    key_names = [name for name, _ in grouped]
    measured = [
        (_name_of(measure), measure) for measure in (_measure(value, None, scope, key_names) for value in measures)
    ]
    measured += [(name, _measure(value, name, scope, key_names)) for name, value in named_measures.items()]
    sets = _positions(grouping_sets, key_names)
    names = [*key_names, *(name for name, _ in measured)]
    if len(sets) > 1:
        names.append(SET_INDEX)
    require_distinct(names)
    keys_ = tuple(key for _, key in grouped)
    if not any(isinstance(measure, ComputedMeasure) for _, measure in measured):
        nodes = tuple(_node(name, measure, scope) for name, measure in measured)
        return rl.Aggregate(rel, keys_, sets, nodes, tuple(names), method, anchor=scope.anchor)
    group = GroupScope(scope, keys_, _columns_of_keys(key_names, keys_, sets))
    positions = {
        name: group.add(_node(name, measure, scope), name)
        for name, measure in measured
        if not isinstance(measure, ComputedMeasure)
    }
    plain = len(group.names)
    expressions: dict[str, ex.Expression] = {}
    for name, measure in measured:
        if isinstance(measure, ComputedMeasure):
            with error_context(place="measure", name=name):
                expressions[name] = evaluate_measure(measure, group)
    inner = [*key_names, *group.names[:plain], *unused_names(group.names[plain:], names)]
    picked: list[Picked] = [(name, position) for position, name in enumerate(key_names)]
    picked += [(name, positions[name] if name in positions else expressions[name]) for name, _ in measured]
    if len(sets) > 1:
        picked.append((SET_INDEX, len(inner)))
        inner.append(SET_INDEX)
    folded = rl.Aggregate(rel, keys_, sets, group.measures, tuple(inner), method, anchor=scope.anchor)
    return compute(folded, picked, Scope(scope.verb, (folded,)))


def _columns_of_keys(names: Sequence[str], keys: Sequence[ex.Expression], sets: Sequence[Sequence[int]]) -> NamedStruct:
    """Return the keys as columns of the aggregate: nullable if a set lacks them."""
    fields = [Field(name, key.type) for name, key in zip(names, keys, strict=True)]
    if not fields:
        return NamedStruct(())
    return NamedStruct(aggregate_schema(fields, sets, (), SET_INDEX).fields[: len(fields)])


def _key(name: str, value: Any, scope: Scope) -> ex.Expression:
    with error_context(place="key", name=name):
        return chosen_column(value, scope, Role.KEY)


def _node(name: str, measure: MeasureBase, scope: Scope) -> ex.Measure:
    with error_context(place="measure", name=name):
        return measure_node(measure, scope, sort_keys)


def _name_of(measure: MeasureBase) -> str:
    if measure._name is None:
        written = "..." if isinstance(measure, ComputedMeasure) else f"{measure._call.name}(...)"
        raise SchemaError(f"{measure._title} has no name", hint=f"give it one: total={written}")
    return measure._name


def _measure(value: Any, name: str | None, scope: Scope, keys: Sequence[str] = ()) -> MeasureBase:
    what = "a measure" if name is None else f'measure "{name}"'
    if isinstance(value, CatalogFunction):
        raise InvalidArgumentError(f"{what} is the function {value.name} itself", hint=f"call it: {value.name}(...)")
    if callable(value):
        with error_context(place=what) if name is not None else nullcontext():
            value = _call_with_row(value, scope, keys)
    if isinstance(value, WindowFunction):
        from substrait_dsl.hints import phrase

        raise InvalidArgumentError(
            f"{what} must be an aggregate function, {value.call.name} is a window function",
            hint=lambda: f"write {value.call.name}(...).over(...) in with_columns(...); {phrase('first_of_each')}",
        )
    if isinstance(value, MeasureBase):
        return value
    if isinstance(value, ExprBase):
        raise TypeMismatchError(
            f"{what} is no aggregate function but an expression",
            hint="wrap it, for example f.sum(...); to group by it, pass it as a key",
        )
    raise InvalidArgumentError(f"{what} must be an aggregate function", got=value, hint=_measure_hint(value, scope))


def _call_with_row(function: Callable[..., Any], scope: Scope, keys: Sequence[str]) -> Any:
    try:
        return call_function(function, scope, rows(scope))
    except UnknownFieldError as error:
        if error.name in keys:
            error.hint = f"the row is that of the input; the key is col({constant(str(error.name))})"
        raise


def _measure_hint(value: Any, scope: Scope) -> str | None:
    """Return the hint for a text, or a dict of texts, in place of a measure."""
    if isinstance(value, Mapping):
        return 'give measures by name: total=f.sum(col("x"))'
    if is_list(value) and any(isinstance(each, MeasureBase) for each in value):
        return 'give them one by one, each with a name: f.sum(col("x")).alias("total"), or total=f.sum(col("x"))'
    match value:
        case (str() as column, str() as function) if column in scope.schema.names:
            return f'write f.{function}(col("{column}"))'
    if not isinstance(value, str):
        return None
    if value in scope.schema.names:
        type_ = scope.schema.types[scope.schema.names.index(value)]
        function = "sum" if isinstance(type_, Number | Decimal) else "count"
        return f'write a function of that column, for example f.{function}(col("{value}"))'
    return f"write f.{value}()" if value in standard_catalog().by_name("aggregate") else None


def _positions(sets: Sequence[Sequence[str | int]] | None, keys: list[str]) -> tuple[tuple[int, ...], ...]:
    """Grouping sets as positions of keys."""
    if sets is None:
        return (tuple(range(len(keys))),) if keys else ()
    if not is_list(sets):
        raise InvalidArgumentError("grouping_sets is a list of tuples of keys", got=sets)
    if not sets:
        raise SchemaError("grouping_sets is empty", hint="leave it out to group by all keys; [()] makes one group")
    return tuple(_key_set(each, number, keys) for number, each in enumerate(sets))


def _key_set(each: Sequence[str | int], number: int, keys: list[str]) -> tuple[int, ...]:
    if not is_list(each):
        hint = f'("{each}",)' if isinstance(each, str) else f"({each!r},)"
        raise InvalidArgumentError(f"grouping set {number} must be a tuple of keys", got=each, hint=hint)
    positions: list[int] = []
    for key in each:
        position = keys.index(key) if key in keys else key
        if not isinstance(position, int) or not 0 <= position < len(keys):
            raise SchemaError(
                f"grouping set {number} names {key!r}, which is no key; the keys are {quote(keys)}",
                names=[key],
                hint=suggestion(key, keys) if isinstance(key, str) else None,
            )
        if position in positions:
            raise SchemaError(f"grouping set {number} names {key!r} twice", names=[key])
        positions.append(position)
    return tuple(positions)


class GroupBy(Picklable, Called, Generic[S, K]):
    """The keys of an aggregate that waits for its measures: keys `K` of rows `S`.

    Specification: ``AggregateRel.grouping_expressions``.

    Example:
        >>> orders.group_by("customer")
        GroupBy(customer: i64)
    """

    __slots__ = ("_keys", "_named", "_relation", "keys")

    keys: NamedStruct
    """The columns to group by."""

    def __init__(self, relation: Relation[S], keys: Sequence[Any], named: Mapping[str, Any]) -> None:
        self._relation = relation
        self._keys = keys
        self._named = named
        if not self._size():
            raise InvalidArgumentError("expected at least one key", hint="aggregate(...) folds all rows into one")
        scope = Scope("group_by", (relation._rel,))
        grouped = keys_of(keys, scope)
        grouped += [(name, _key(name, value, scope)) for name, value in named.items()]
        require_distinct([name for name, _ in grouped])
        self.keys = NamedStruct(tuple(Field(name, key.type) for name, key in grouped))

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise no_attribute("group_by(...)", name, "group", dir(type(self)))

    def __repr__(self) -> str:
        return f"GroupBy({self.keys})"

    def _repr_html_(self) -> str:
        from substrait_dsl.render.html import counted, schema_html

        return schema_html(self.keys, f"group by {counted(len(self.keys), 'key')}; agg(...) adds measures")

    def agg(self, /, *measures: MeasureLike[S], **named: MeasureLike[S]) -> Relation[DynRow]:
        """Fold the rows into one for each different combination of the keys.

        Args:
            measures: measures that have a name: ``f.count().alias("n")``.
            named: further measures, as name=measure.

        Output and errors: see `Relation.aggregate`. Specification: ``AggregateRel``.

        Example:
            >>> print(orders.group_by("customer").agg(total=lambda o: f.sum(o.price)))
            aggregate by customer -> customer: i64, total: fp64? = sum(price)
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="agg"):
            return self._aggregate(None, measures, named)

    def rollup(self, /, *measures: MeasureLike[S], **named: MeasureLike[S]) -> Relation[DynRow]:
        """Fold the rows by all keys, by all but the last, and so on to none, each a grouping set.

        Args:
            measures: measures that have a name: ``f.count().alias("n")``.
            named: further measures, as name=measure.

        Output: as of `Relation.aggregate`, with ``grouping_set: i32``. Specification: ``AggregateRel.Grouping``.

        Example:
            >>> print(orders.group_by("customer", "id").rollup(n=f.count()).schema)
            0  customer      i64?
            1  id            i64?
            2  n             i64
            3  grouping_set  i32
        """
        with error_context(verb="rollup"):
            size = self._size()
            return self._aggregate([range(width) for width in range(size, -1, -1)], measures, named)

    def cube(self, /, *measures: MeasureLike[S], **named: MeasureLike[S]) -> Relation[DynRow]:
        """Fold the rows by every subset of the keys, larger ones first, each a grouping set.

        Args:
            measures: measures that have a name: ``f.count().alias("n")``.
            named: further measures, as name=measure.

        Output: as of `Relation.aggregate`, with ``grouping_set: i32``. Specification: ``AggregateRel.Grouping``.

        Example:
            >>> print(orders.group_by("customer", "id").cube(n=f.count()).schema)
            0  customer      i64?
            1  id            i64?
            2  n             i64
            3  grouping_set  i32
        """
        with error_context(verb="cube"):
            size = self._size()
            sets = [subset for width in range(size, -1, -1) for subset in combinations(range(size), width)]
            return self._aggregate(sets, measures, named)

    def pivot(
        self, on: str | int | ExprBase | Callable[[S], ExprBase], values: Values, measure: MeasureLike[S]
    ) -> Relation[DynRow]:
        """Fold the rows by the keys, with a column for each of some values: the measure of the rows that have it.

        Args:
            on: the column, or an expression, whose values become columns.
            values: these values, a list, or a dict of them by the names of their columns; None stands for NULL. They
                are declared, so that the columns are known before any row is.
            measure: an aggregate function, or a lambda that gets the row and returns one. It may have a filter.

        Output: the keys, then a column for each value, called by its text. Rows of other values are left out, and a
        group that has none for a value has what the function gives for no rows: NULL, or 0 of `count`. Raises
        `TypeMismatchError` for a measure that computes, and as `Relation.aggregate` does.
        Specification: ``AggregateRel.Measure.filter``.

        Example:
            >>> grouped = orders.group_by("customer")
            >>> print(grouped.pivot("id", {"first": 1, "second": 2}, lambda o: f.sum(o.price)).schema)
            0  customer  i64
            1  first     fp64?
            2  second    fp64?
        """
        from substrait_dsl.fluent.reshaping import pivoted_measures

        with error_context(verb="pivot"):
            return self._aggregate(None, (), pivoted_measures(on, values, measure))

    def _size(self) -> int:
        return len(self._keys) + len(self._named)

    def _aggregate(
        self, sets: Sequence[Sequence[int]] | None, measures: Sequence[Any], named: Mapping[str, Any]
    ) -> Relation[DynRow]:
        from substrait_dsl.fluent.relation import Relation

        return Relation(aggregate(self._relation._rel, self._keys, self._named, sets, measures, named))
