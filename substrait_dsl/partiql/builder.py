"""The builder of bindings: ``scan(foo, as_="f").filter(lambda t: t.f.FooId == 200)``.

`Bindings` and `Values` are separate, for Python and for type checkers: only `scan` and `unpivot` make bindings of a
value, and only `map_values` and `pivot` make a value of bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from types import NoneType
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar, Union

from substrait_dsl.errors import (
    InvalidArgumentError,
    SubstraitDslError,
    TypeMismatchError,
    error_context,
    require,
    shorten,
)
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.fluent.column_arguments import describe_function, takes
from substrait_dsl.fluent.guidance import no_attribute
from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.collection_types import collection_type_of_bindings
from substrait_dsl.partiql.interpreter import Mode, evaluate_bindings, require_mode
from substrait_dsl.partiql.interpreter_inputs import data_of
from substrait_dsl.partiql.keys import Measured, SortBy
from substrait_dsl.partiql.lowered import LoweredBindings
from substrait_dsl.partiql.lowering import lower_bindings
from substrait_dsl.partiql.node import BindingsExpr
from substrait_dsl.partiql.null_and_missing import raising_cast_message
from substrait_dsl.partiql.output import bindings_of, columns_of, require_readable
from substrait_dsl.partiql.scopes import TupleScope, scopes_of, without_scope
from substrait_dsl.partiql.value_builder import (
    Bound,
    Tuple,
    ValueLike,
    Values,
    derive_value,
    no_value,
    sources_of,
    sources_of_user,
    value,
)
from substrait_dsl.partiql.values import BindingsData, CollectionType, Data

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Each: TypeAlias = Union["Callable[[Tuple], ValueLike]", Values]
"""A value for each binding tuple: a lambda that gets it, or a value that is the same for all."""

Condition: TypeAlias = Union["Callable[[Tuple], Values]", Values]
"""A condition for each binding tuple. A plain Python value, such as that of ``x is None``, is none."""

_Part = TypeVar("_Part", bound=Bound)


class Bindings(Bound):
    """A bag or a list of binding tuples. Immutable: every verb returns new bindings."""

    __slots__ = ("_node",)

    def __init__(self, expression: BindingsExpr, tables: Mapping[str, object] | None = None) -> None:
        """Take an expression, and the sources of the names in it that no scan binds (`tables`)."""
        if not isinstance(expression, BindingsExpr):
            raise TypeMismatchError(
                f"Bindings are of a bindings expression, got {shorten(str(expression))}",
                hint="scan makes bindings of a value",
            )
        self._node = expression
        self.sources = sources_of_user(tables)
        self.scopes = {}

    @property
    def expression(self) -> BindingsExpr:
        """The expression, which `render` prints and `transform` rewrites."""
        return self._node

    @property
    def variables(self) -> tuple[str, ...]:
        """The names in the tuples, in order."""
        return self._node.variables

    if not TYPE_CHECKING:  # a checker must not take every name for a verb

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise no_attribute("a bindings collection", name, "bindings", dir(type(self)))

    def __str__(self) -> str:
        return str(self._node)

    def __repr__(self) -> str:
        return f"Bindings({self._node})"

    def _each(self, argument: object) -> Values:
        """Return the value expression of a lambda, or of a Python object."""
        if isinstance(argument, Bindings):
            raise no_value(argument)
        return self._evaluate(argument, value)

    def _evaluate(self, argument: object, to: Callable[[object], _Part]) -> _Part:
        """Evaluate a lambda, or convert an object, in the scope of the variables of these bindings."""
        scope = None
        if callable(argument) and not isinstance(argument, Values):
            scope = TupleScope(self.variables)
            try:
                argument = self._call_lambda(argument, Tuple(self, scope))
            finally:
                scope.is_over = True
        part = to(argument)
        scopes = without_scope(part, self.variables, scope)
        if scopes == part.scopes:
            return part
        closed = copy(part)
        closed.scopes = scopes
        return closed

    def _call_lambda(self, function: Callable[[Tuple], object], row: Tuple) -> object:
        try:
            return function(row)
        except TypeError as error:
            if isinstance(error, SubstraitDslError) or takes(function, 1):
                raise
            message = f"{describe_function(function)} does not take one binding tuple"
            raise InvalidArgumentError(message, hint="lambda t: t.a == t.b sees the variables of both sides") from None

    def _value_not_text(self, argument: object, what: str) -> Values:
        """Return the value expression of a lambda; a bare string is refused."""
        if isinstance(argument, str):
            raise InvalidArgumentError(
                f"{what} is a lambda or a value of the algebra, got the text {argument!r}",
                hint="count(1) counts the tuples"
                if argument == "*"
                else f"write lambda t: t.{self.variables[0]} for a variable, lit({argument!r}) for a text",
            )
        return self._each(argument)

    def _condition(self, argument: object) -> Values:
        """Return a condition for each tuple; a value that Python computed, as in ``t.f is None``, is refused."""

        def wrap_result(result: object) -> Values:
            self._require_condition(result, "but the lambda returned")
            return value(result)

        if callable(argument) and not isinstance(argument, Values):
            return self._evaluate(argument, wrap_result)
        self._require_condition(argument, "got")
        return self._value_not_text(argument, "a condition")

    def _require_condition(self, argument: object, came: str) -> None:
        if isinstance(argument, bool | None):
            attribute = f"t.{self.variables[0]}.x"
            raise InvalidArgumentError(
                f"a condition is a lambda or a value of the algebra, {came} {argument}, which no tuple decides",
                hint=f'write lambda t: {attribute} == "open", or {attribute}.is_null(); '
                f"lit({argument}) is the same for all tuples",
            )

    def _name_values(self, values: Mapping[str, Values]) -> tuple[tuple[b.Named, ...], list[Values]]:
        return tuple(b.Named(name, each.expression) for name, each in values.items()), list(values.values())

    def cross_join(self, other: Bindings | Callable[[Tuple], Bindings]) -> Bindings:
        """Every tuple with every one of the other bindings: a bag of their concatenations.

        Args:
            other: the other bindings; a lambda, if they depend on a tuple of these.

        Raises `SchemaError` for a variable that both have, `TypeMismatchError` for a value.
        """
        with error_context(verb="cross_join"):
            right = self._other(other)
            return derive_bindings(b.CrossJoin(self.expression, right.expression), self, right)

    def join(
        self,
        other: Bindings | Callable[[Tuple], Bindings],
        on: Condition | None = None,
        how: b.JoinHow = "inner",
    ) -> Bindings:
        """The pairs for which a condition is true: a bag.

        Args:
            other: the other bindings; a lambda, if they depend on a tuple of these.
            on: the condition, of the concatenated tuple; None: all pairs.
            how: "inner", or which side's tuples stay without a partner, whose variables are null: "left", "right",
                "full".
        """
        with error_context(verb="join"):
            right = self._other(other)
            pairs = Bindings(b.Join(how, self.expression, right.expression))
            if on is None:
                return derive_bindings(pairs.expression, self, right)
            condition = pairs._condition(on)
            node = b.Join(how, self.expression, right.expression, condition.expression)
            return derive_bindings(node, self, right, condition)

    def _other(self, other: object) -> Bindings:
        return self._evaluate(other, _bindings)

    def filter(self, condition: Condition) -> Bindings:
        """The tuples for which a condition is true; a bag or a list, as these are.

        A condition that is no boolean is false in permissive mode, and in strict mode an error when it is evaluated.
        """
        with error_context(verb="filter"):
            where = self._condition(condition)
            return derive_bindings(b.Filter(where.expression, self.expression), self, where)

    def map_values(self, each: Each) -> Values:
        """The value of an expression for each tuple; a bag or a list, as these are."""
        with error_context(verb="map_values"):
            mapped = self._value_not_text(each, "the value for each tuple")
            return derive_value(e.MapValues(mapped.expression, self.expression), self, mapped)

    def map_let(self, **named: Each | ValueLike) -> Bindings:
        """The tuples with further variables, ``map_let(total=lambda t: t.a + t.b)``; a bag or a list, as these are."""
        with error_context(verb="map_let"):
            if not named:
                raise InvalidArgumentError("expected at least one variable, as name=value")
            nodes, values = self._name_values({name: self._each(each) for name, each in named.items()})
            return derive_bindings(b.MapLet(nodes, self.expression), self, *values)

    def order_by(self, *keys: Each | SortBy) -> Bindings:
        """The tuples in an order: a list. A bare key is ascending, nulls last; `desc(key)` says otherwise."""
        with error_context(verb="order_by"):
            sort_keys = [key if isinstance(key, SortBy) else SortBy(key) for key in keys]
            values = [self._value_not_text(key.key, "a key") for key in sort_keys]
            nodes = tuple(key.node(each.expression) for key, each in zip(sort_keys, values, strict=True))
            return derive_bindings(b.OrderBy(nodes, self.expression), self, *values)

    def limit(self, count: ValueLike) -> Bindings:
        """The first tuples of a list, or so many of a bag.

        Raises `InvalidArgumentError` for a constant that is no number of tuples, 0 or more.
        """
        with error_context(verb="limit"):
            many = value(count)
            return derive_bindings(b.Limit(many.expression, self.expression), self, many)

    def offset(self, count: ValueLike) -> Bindings:
        """All but the first tuples of a list, or but so many of a bag. Raises as `limit` does."""
        with error_context(verb="offset"):
            many = value(count)
            return derive_bindings(b.Offset(many.expression, self.expression), self, many)

    def pivot(self, name: Each, of: Each) -> Values:
        """One struct, with an attribute for each tuple."""
        with error_context(verb="pivot"):
            parts = [
                self._value_not_text(name, "the name of each attribute"),
                self._value_not_text(of, "the value of each attribute"),
            ]
            return derive_value(e.Pivot(parts[0].expression, parts[1].expression, self.expression), self, *parts)

    def group_by(
        self,
        keys: Mapping[str, Each] | None = None,
        measures: Mapping[str, Measured] | None = None,
        *,
        group_as: str | None = None,
    ) -> Bindings:
        """A tuple for each combination of keys: a bag.

        Args:
            keys: variables of the keys, ``{"k": lambda t: t.f.kind}``; a missing key counts as null.
            measures: variables of the aggregates, ``{"n": count(lambda t: t.f.id)}``.
            group_as: a variable for the tuples of the group, a bag of structs.
        """
        with error_context(verb="group_by"):
            require(keys, (Mapping, NoneType), 'the keys are a dict, such as {"k": lambda t: t.f.kind}')
            require(measures, (Mapping, NoneType), 'the measures are a dict, such as {"n": count(lambda t: t.f.id)}')
            for name in (*(keys or {}), *(measures or {})):
                require(name, str, "the variables of keys and measures are names")
            key_nodes, values = self._name_values(
                {name: self._value_not_text(key, f'the key "{name}"') for name, key in (keys or {}).items()}
            )
            nodes = []
            for name, measure in (measures or {}).items():
                require(measure, Measured, f'the measure "{name}" is an aggregate, such as count(lambda t: t.f.id)')
                values.append(self._value_not_text(measure.value, f'what the aggregate "{name}" is of'))
                nodes.append(b.Measure(name, measure.function, values[-1].expression))
            return derive_bindings(b.GroupBy(key_nodes, tuple(nodes), group_as, self.expression), self, *values)

    # --- running

    @property
    def collection_type(self) -> CollectionType | None:
        """Whether the tuples are a bag or a list; None, if that depends on the rows that a path leads to."""
        return collection_type_of_bindings(self._node, self.sources)

    def _lower(self, mode: Mode) -> LoweredBindings:
        return lower_bindings(self._node, self.sources, mode)

    def collect(self, spark: SparkSession, mode: Mode = "permissive") -> BindingsData:
        """The binding tuples, computed on Spark.

        Raises as `as_relation` and ``Relation.collect`` do, and `UnsupportedError` for types that PartiQL lacks.
        """
        with error_context(verb="collect"):
            require_mode(mode)
            lowered = self._lower(mode)
            require_readable(lowered)
            with raising_cast_message():
                return bindings_of(lowered, wrap_relation(columns_of(lowered)).collect(spark))

    def evaluate(self, data: Data | None = None, mode: Mode = "permissive") -> BindingsData:
        """The binding tuples, by the interpreter, over the data that the tables hold; see `Values.evaluate`."""
        with error_context(verb="evaluate"):
            return evaluate_bindings(self._node, data_of(self._node.free, self.sources, data), mode)


def scan(collection: ValueLike, *, as_: str, at: str | None = None, by: str | None = None) -> Bindings:
    """A binding tuple for each element of a bag or a list; one for any other value.

    Args:
        collection: a value of the algebra, or a Python object that is one.
        as_: the variable of the element.
        at: a variable of the index in a list, from 0; of a bag it is missing.
        by: a variable of the record id, where the table has them; else it is missing.

    Raises `TypeMismatchError` for bindings, `SchemaError` for a name given twice.
    """
    with error_context(verb="scan"):
        source = value(collection)
        return derive_bindings(b.Scan(source.expression, as_, at, by), source)


def unpivot(struct: ValueLike, *, as_: str, at: str | None = None, by: str | None = None) -> Bindings:
    """A binding tuple for each attribute of a struct: its value, and `at` its name; a bag."""
    with error_context(verb="unpivot"):
        source = value(struct)
        return derive_bindings(b.Unpivot(source.expression, as_, at, by), source)


def _bindings(argument: object) -> Bindings:
    if not isinstance(argument, Bindings):
        raise TypeMismatchError(
            f"expected other bindings, got {shorten(str(argument))}", hint="scan makes bindings of a value"
        )
    return argument


def derive_bindings(expression: BindingsExpr, *parts: Bound) -> Bindings:
    """Return bindings that contain other expressions, with the tables of these."""
    derived = Bindings(expression, sources_of(parts))
    derived.scopes = scopes_of(parts)
    return derived
