"""The builder of values: ``t.f.FooId == 200``, ``t.a + 1``.

An operator makes an expression; nothing is computed before `collect`, `execute` or `evaluate`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    quote,
    require,
    shorten,
    suggestion,
)
from substrait_dsl.fluent.base import RelationBase, wrap_relation
from substrait_dsl.fluent.expr import Expr, SortKey
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.collection_types import collection_type_of_value
from substrait_dsl.partiql.interpreter import Mode, evaluate_value, require_mode, struct_of
from substrait_dsl.partiql.interpreter_inputs import data_of
from substrait_dsl.partiql.keys import Measured, SortBy
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredCollection, Source, StoredTable
from substrait_dsl.partiql.lowering import lower_values
from substrait_dsl.partiql.node import BindingsExpr, ValueExpr
from substrait_dsl.partiql.null_and_missing import raising_cast_message
from substrait_dsl.partiql.output import columns_of, require_readable, table_of, values_of
from substrait_dsl.partiql.scopes import TupleScope, scopes_of
from substrait_dsl.partiql.values import Bag, CollectionType, Data, Struct, Value, identity, to_value
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.fluent.relation import Relation


ValueLike: TypeAlias = "Values | Value | Sequence[object] | Mapping[str, object]"
"""A value of the algebra, or a plain Python object that is a constant."""


class Bound(Called, ABC):
    """An expression, and the sources of its names."""

    __slots__ = ("scopes", "sources")

    sources: dict[str, Source]
    """The sources of the names that no scan binds: relations, and values."""
    scopes: Mapping[str, frozenset[TupleScope]]
    """The scopes of the variables that a lambda read, and that nothing inside binds."""

    @property
    @abstractmethod
    def expression(self) -> ValueExpr | BindingsExpr:
        """The expression, which `render` prints and `transform` rewrites."""

    def __bool__(self) -> NoReturn:
        raise TypeMismatchError("an expression of the algebra has no truth value", hint="combine conditions with & | ~")

    def __iter__(self) -> NoReturn:  # Python would ask `Values` for 0, 1, 2 and so on, and get a path each time
        raise TypeMismatchError(
            "an expression of the algebra is no sequence", hint="collect(spark) or evaluate(data) gives what is in it"
        )

    def __contains__(self, item: object) -> NoReturn:
        raise TypeMismatchError("an expression of the algebra is no container", hint="write x.is_in(collection)")

    @abstractmethod
    def _lower(self, mode: Mode) -> LoweredCollection | LoweredBindings:
        """Return the relation, and its values."""

    def as_relation(self, mode: Mode = "permissive") -> Relation[Any]:
        """Return the elements as rows; those of a list are sorted.

        Output: of `Bindings` the attributes of a variable as columns ``f.FooId``, and other values under its name; of
        `Values` the attributes of structs, and other values as ``value``. Structs, lists and bags inside are structs
        and lists. What is missing is NULL.
        Raises `UnsupportedError` for what is not lowered to Substrait.
        """
        with error_context(verb="as_relation"):
            require_mode(mode)
            return wrap_relation(table_of(self._lower(mode)))

    def to_plan(self, mode: Mode = "permissive") -> Plan:
        """Return the plan of `as_relation`."""
        return self.as_relation(mode).to_plan()

    def execute(self, spark: SparkSession, mode: Mode = "permissive") -> DataFrame:
        """Run `as_relation` on Spark."""
        return self.as_relation(mode).execute(spark)


class Values(Bound):
    """A value: a variable, an attribute, a constant, a table, or the result of operators and `map_values`.

    Attributes are read as attributes, ``t.f.FooId``, or as ``t.f["FooId"]`` where the name is no Python name, begins
    with an underscore, or is that of a method.
    """

    __slots__ = ("_node",)

    def __init__(self, expression: ValueExpr, tables: Mapping[str, object] | None = None) -> None:
        """Take an expression, and the sources of the names in it that no scan binds (`tables`)."""
        if not isinstance(expression, ValueExpr):
            raise no_value(expression)
        self._node = expression
        self.sources = sources_of_user(tables)
        self.scopes = {}

    @property
    def expression(self) -> ValueExpr:
        """The expression, which `render` prints and `transform` rewrites."""
        return self._node

    def __str__(self) -> str:
        return str(self._node)

    def __repr__(self) -> str:
        return f"Values({self._node})"

    # --- parts

    def __getattr__(self, name: str) -> Values:
        if name.startswith("_"):  # what Python and notebooks look for
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, step: str | int | Values) -> Values:
        last = value(step)
        node = self._node
        if isinstance(node, e.Path):  # one path of several steps
            return derive_value(e.Path(node.root, (*node.steps, last._node)), self, last)
        return derive_value(e.Path(node, (last._node,)), self, last)

    if not TYPE_CHECKING:  # a type checker refuses a call of a value itself

        def __call__(self, *arguments: object, **named: object) -> NoReturn:
            """Raise: a value is not called; an unknown method is an attribute of the value."""
            steps = self._node.steps if isinstance(self._node, e.Path) else ()
            name = getattr(steps[-1], "value", None) if steps else None
            if not isinstance(name, str):
                raise TypeMismatchError(f"{shorten(str(self))} is a value, which is not called")
            from substrait_dsl.partiql.guidance import method_hint

            raise TypeMismatchError(f'a value has no method "{name}"', hint=lambda: method_hint(name, dir(type(self))))

    # --- operators

    def _operator(self, op: str, *others: object) -> Values:
        operands = [self, *map(value, others)]
        return derive_value(e.Operator(op, tuple(each._node for each in operands)), *operands)

    def __eq__(self, other: object) -> Values:  # type: ignore[override]  # a comparison in the algebra
        return self._operator("eq", other)

    def __ne__(self, other: object) -> Values:  # type: ignore[override]
        return self._operator("ne", other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: object) -> Values:
        return self._operator("lt", other)

    def __le__(self, other: object) -> Values:
        return self._operator("lte", other)

    def __gt__(self, other: object) -> Values:
        return self._operator("gt", other)

    def __ge__(self, other: object) -> Values:
        return self._operator("gte", other)

    def __and__(self, other: object) -> Values:
        return self._operator("and", other)

    def __rand__(self, other: object) -> Values:
        return value(other)._operator("and", self)

    def __or__(self, other: object) -> Values:
        return self._operator("or", other)

    def __ror__(self, other: object) -> Values:
        return value(other)._operator("or", self)

    def __invert__(self) -> Values:
        return self._operator("not")

    def __add__(self, other: object) -> Values:
        return self._operator("plus", other)

    def __radd__(self, other: object) -> Values:
        return value(other)._operator("plus", self)

    def __sub__(self, other: object) -> Values:
        return self._operator("minus", other)

    def __rsub__(self, other: object) -> Values:
        return value(other)._operator("minus", self)

    def __mul__(self, other: object) -> Values:
        return self._operator("times", other)

    def __rmul__(self, other: object) -> Values:
        return value(other)._operator("times", self)

    def __truediv__(self, other: object) -> Values:
        return self._operator("divide", other)

    def __rtruediv__(self, other: object) -> Values:
        return value(other)._operator("divide", self)

    def __mod__(self, other: object) -> Values:
        return self._operator("modulo", other)

    def __rmod__(self, other: object) -> Values:
        return value(other)._operator("modulo", self)

    def __neg__(self) -> Values:
        return self._operator("neg")

    def __abs__(self) -> Values:
        return derive_value(e.Call("abs", (self._node,)), self)

    def is_null(self) -> Values:
        """Test whether the value is null or missing."""
        return self._operator("is_null")

    def is_missing(self) -> Values:
        """Test whether the value is missing."""
        return self._operator("is_missing")

    def is_in(self, among: object) -> Values:
        """Test whether the value is an element of a collection."""
        return self._operator("in", among)

    def concat(self, other: object) -> Values:
        """Concatenate with another string."""
        return self._operator("concat", other)

    # --- running

    @property
    def collection_type(self) -> CollectionType | None:
        """Whether the collection is a bag or a list; None, if that depends on the rows that a path leads to."""
        return collection_type_of_value(self._node, self.sources)

    def _lower(self, mode: Mode) -> LoweredCollection:
        return lower_values(self._node, self.sources, mode)

    def collect(self, spark: SparkSession, mode: Mode = "permissive") -> Value:
        """Compute the collection on Spark: a `Bag`, or a tuple for a list; a scalar is a bag of one.

        Raises as `as_relation` and ``Relation.collect`` do, and `UnsupportedError` for types that PartiQL lacks.
        """
        with error_context(verb="collect"):
            require_mode(mode)
            if isinstance(self._node, e.Pivot):
                return Bag((self._collect_pivot(self._node, spark, mode),))
            lowered = self._lower(mode)
            require_readable(lowered)
            with raising_cast_message():
                return values_of(lowered, wrap_relation(columns_of(lowered)).collect(spark))

    def _collect_pivot(self, pivot: e.Pivot, spark: SparkSession, mode: Mode) -> Struct:
        """Compute the attributes of a pivot on Spark, and return the struct; no column could hold it."""
        parts = (("name", pivot.name), ("value", pivot.value))
        pair = e.StructExpr(tuple(e.ExprPair(e.Lit(name), part) for name, part in parts))
        pairs = Values(e.MapValues(pair, pivot.source), self.sources).collect(spark, mode)
        assert isinstance(pairs, Bag | tuple)
        structs = (each for each in pairs if isinstance(each, Struct))
        return struct_of(((each.get("name"), each.get("value")) for each in structs), mode)

    def evaluate(self, data: Data | None = None, mode: Mode = "permissive") -> Value:
        """Evaluate the value by the interpreter over the data of the tables; see `evaluate_value`.

        Args:
            data: the rows of tables by their names: a bag or a list of structs or dicts, each a bag of rows. Those of
                plain values and of ``read_virtual`` are known. An attribute that is the table's `record_id` is not one
                of the row; `Table` gives record ids of their own.
            mode: "permissive" or "strict".

        Raises `UnknownFieldError` for a table without data.
        """
        with error_context(verb="evaluate"):
            return evaluate_value(self._node, data_of(self._node.free, self.sources, data), mode)


class _Variables(Protocol):
    @property
    def variables(self) -> tuple[str, ...]: ...


class Tuple:
    """A binding tuple, as a lambda gets it: its variables, ``t.f`` or ``t["f"]``."""

    __slots__ = ("_scope", "_source")

    def __init__(self, source: _Variables, scope: TupleScope | None = None) -> None:
        self._source = source
        self._scope = scope

    def __getattr__(self, name: str) -> Values:
        if name.startswith("_"):  # what Python and notebooks look for
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Values:
        names = self._source.variables
        if name not in names:
            raise UnknownFieldError(
                f'there is no variable "{name}"; there are {quote(names)}', hint=suggestion(str(name), names)
            )
        variable = Values(e.Id(name))
        if self._scope is not None:
            variable.scopes = {name: frozenset((self._scope,))}
        return variable


def value(operand: object) -> Values:
    """Return a value of the algebra as it is, any other Python object as a constant.

    Raises `InvalidArgumentError` for an object that is no value of PartiQL, `TypeMismatchError` for bindings.
    """
    if isinstance(operand, Values):
        return operand
    if isinstance(operand, Bound):
        raise no_value(operand)
    if isinstance(operand, RelationBase):
        raise InvalidArgumentError(
            "a relation is no value, before it has a name", hint='partiql.table("t", relation) makes a value of it'
        )
    if isinstance(operand, Tuple):
        name = operand._source.variables[0]
        raise TypeMismatchError(
            "expected a value, got a binding tuple, which is none",
            hint=f"t.{name} is a variable of it; struct({name}=t.{name}) makes a value of variables",
        )
    if isinstance(operand, Expr | SortKey):
        raise TypeMismatchError(
            f"expected a value of the algebra, got an expression of relations, {shorten(repr(operand))}",
            hint="a lambda gets the binding tuple: lambda t: t.f.name",
        )
    if isinstance(operand, Measured):
        raise TypeMismatchError(
            f"expected a value, got the aggregate {operand.function}", hint='group_by(measures={"n": ..}) computes it'
        )
    if isinstance(operand, SortBy):
        raise TypeMismatchError(
            "expected a value, got a sort key",
            hint=f"the lambda stands inside: {operand.direction}(lambda t: ...)",
        )
    return Values(e.Lit(to_value(operand)))


def no_value(operand: object) -> TypeMismatchError:
    """Return the error for bindings in place of a value."""
    got = shorten(str(operand))
    return TypeMismatchError(f"expected a value, got {got}", hint="map_values makes values of bindings")


def derive_value(expression: ValueExpr, *parts: Bound) -> Values:
    """Return a value that contains other expressions, with the tables of these."""
    derived = Values(expression, sources_of(parts))
    derived.scopes = scopes_of(parts)
    return derived


def sources_of(parts: Sequence[Bound]) -> dict[str, Source]:
    """Return the tables of several expressions. Raises `SchemaError` if a name has two sources."""
    found: dict[str, Source] = {}
    for part in parts:
        for name in part.expression.free & part.sources.keys():
            source = part.sources[name]
            if not _is_same(found.setdefault(name, source), source):
                raise SchemaError(f'the name "{name}" stands for two tables', hint="give one of them another name")
    return found


def _is_same(one: Source, other: Source) -> bool:
    """Whether two sources are the same; 1 is not 1.0."""
    if isinstance(one, RelationBase | StoredTable) or isinstance(other, RelationBase | StoredTable):
        return one == other
    return identity(one) == identity(other)


def sources_of_user(tables: Mapping[str, object] | None) -> dict[str, Source]:
    """Return the sources of names: relations as they are, other Python objects as values."""
    named = tables or {}
    require(named, Mapping, "the tables are a dict of relations and values by their names")
    return {name: _source(source) for name, source in named.items()}


def _source(source: object) -> Source:
    """Return the source of a name: a relation, that of a table that is a value already, or a value."""
    if isinstance(source, Values) and isinstance(source._node, e.Id) and source._node.name in source.sources:
        return source.sources[source._node.name]
    return source if isinstance(source, RelationBase | StoredTable) else to_value(source)
