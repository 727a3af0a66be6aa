"""Conditionals, membership tests, literals and subqueries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.number_types import common_number
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.rules import common_type
from substrait_dsl.algebra.types import Boolean, List, Null, Nullable, Req, Type
from substrait_dsl.errors import InvalidArgumentError, LiteralError, TypeMismatchError, UnknownAttributeError
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.calls import Measure, MeasureBase, refuse_operators, scalar
from substrait_dsl.fluent.expr import DynExpr, Expr, ExprBase, Make, bound_expr, combine, unbound_expr, unwrap_constants
from substrait_dsl.fluent.guidance import IN_LIST, bool_hint, no_column, relation_hint, require_no_shown
from substrait_dsl.fluent.operators import PythonValue
from substrait_dsl.fluent.schemas import as_type
from substrait_dsl.fluent.scope import own_column
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    from substrait_dsl.fluent.base import RelationBase

T = TypeVar("T", bound=Type)
N = TypeVar("N", bound=Null)
R = TypeVar("R", default=DynExpr)

Condition = ExprBase | MeasureBase
Branch = ExprBase | PythonValue | dict[Any, Any] | None


def col(column: str | int) -> DynExpr:
    """Refer to a column of whatever relation the expression is used on.

    Args:
        column: its name, or its position from 0.

    Returns:
        An unbound expression. Raises `UnknownFieldError` or `AmbiguousFieldError` when it meets the relation.

    Specification: ``Expression.FieldReference``.

    Example:
        >>> print(orders.filter(sd.col("price") > 5.0))
        filter price > 5.0
          read orders -> id: i64, customer: i64, price: fp64?
    """
    if isinstance(column, bool) or not isinstance(column, str | int):
        raise InvalidArgumentError("col takes the name or the position of a column", got=column)
    return unbound_expr(partial(own_column, column), str.__str__(column) if isinstance(column, str) else None)


@overload
def lit(value: object, type: type[Nullable[T]]) -> Expr[T, Null]: ...
@overload
def lit(value: object, type: type[T] | T) -> Expr[T, Req]: ...
@overload
def lit(value: object, type: str | None = None) -> DynExpr: ...
def lit(value: object, type: Any = None) -> Any:
    """Make a constant an expression.

    Args:
        value: a Python value; in a tuple, a list or a dict there may be constants, too. A value of a user-defined type
            is a tuple of them, one for each field of its structure, ``lit((lit(5), lit("EUR")), money)``, or a
            message: an `AnyMessage`, or one of protobuf.
        type: its type, which must hold the value exactly; by default the natural one: int is ``i64``, float ``fp64``,
            str ``string``, Decimal as many digits as it has, datetime ``precision_timestamp<6>``.

    Returns:
        The expression, required unless `type` is nullable. Raises `LiteralError` for a value that does not fit.

    Specification: ``Expression.Literal``.

    Example:
        >>> print(orders.project(one=sd.lit(1), rate=sd.lit(1, "fp64")).schema)
        0  id        i64
        1  customer  i64
        2  price     fp64?
        3  one       i64
        4  rate      fp64
    """
    value = unwrap_constants(value)
    return bound_expr(ex.literal(value, ex.natural_type(value) if type is None else as_type(type)), None)


@overload
def null(type: type[Nullable[T]]) -> Expr[T, Null]: ...
@overload
def null(type: type[T] | T) -> Expr[T, Null]: ...
@overload
def null(type: str) -> DynExpr: ...
def null(type: Any) -> Any:
    """Make a NULL of a type.

    Args:
        type: the type, as in a schema.

    Returns:
        The expression, always nullable.

    Specification: ``Expression.Literal.null``.

    Example:
        >>> print(orders.select(paid=sd.null("date")).schema)
        0  paid  date?
    """
    return bound_expr(ex.Literal(None, as_type(type).as_nullable()), None)


class Quantified(Picklable):
    """The result of ``any_of`` and ``all_of``: the right side of a comparison with every row of a relation."""

    __slots__ = ("reduction", "rel")

    def __init__(self, reduction: ex.ReductionOp, relation: RelationBase) -> None:
        self.reduction = reduction
        self.rel = _relation(relation, f"{reduction}_of")


_COMPARISONS: dict[str, ex.ComparisonOp] = {
    "equal": "eq",
    "not_equal": "ne",
    "lt": "lt",
    "lte": "le",
    "gt": "gt",
    "gte": "ge",
}


def compare(function: str, left: object, right: object) -> DynExpr:
    """Return a comparison of two values, or of a value with all rows of a relation."""
    if right is None:
        raise InvalidArgumentError("a comparison with None is never true", hint="use is_null() or is_not_null()")
    if isinstance(right, Quantified):
        if isinstance(left, MeasureBase):
            from substrait_dsl.fluent.computed_measures import compute_from

            return compute_from(lambda parts: compare(function, parts[0], right), [left])  # type: ignore[return-value]  # as `scalar`
        comparison, reduction, rel = _COMPARISONS[function], right.reduction, right.rel
        what = f"{function}_{reduction}"
        return combine(what, partial(_set_comparison, reduction, comparison, rel), [left])
    return scalar(function, (left, right))


def in_list(value: ExprBase, options: Any) -> DynExpr:
    """Return whether a value is one of several, or a row of a relation of one column."""
    rel = _rel(options)
    if rel is not None:
        return combine("is_in", partial(_in_predicate, rel), [value])
    return combine("is_in", _or_list, [value, *_sequence(options)])


def _set_comparison(
    reduction: ex.ReductionOp, comparison: ex.ComparisonOp, rel: Rel, parts: Sequence[Any]
) -> ex.Expression:
    return ex.SetComparison(reduction, comparison, parts[0], rel)


def _in_predicate(rel: Rel, parts: Sequence[Any]) -> ex.Expression:
    return ex.InPredicate(tuple(parts), rel)


def _or_list(parts: Sequence[Any]) -> ex.Expression:
    value, *options = _compared(parts)
    return ex.SingularOrList(value, tuple(options))


def _or_list_of_records(width: int, parts: Sequence[Any]) -> ex.Expression:
    fields = [_compared(parts[position::width]) for position in range(width)]
    values, *records = zip(*fields, strict=True)
    return ex.MultiOrList(tuple(values), tuple(map(ex.OrListRecord, records)))


def _compared(parts: Sequence[Any]) -> list[ex.Expression]:
    """Return a value and its options as expressions, numbers of several types cast to the one that holds them all."""
    value, *options = [_same_type(part, parts[0].type) for part in parts]
    common = common_number([value.type, *(option.type for option in options)])
    if common is None:
        return [value, *options]
    return [_as_number(each, common.with_nullability(each.type.nullable)) for each in (value, *options)]


def _as_number(expression: ex.Expression, type_: Type) -> ex.Expression:
    """Return an expression as one of a numeric type that holds its values; a literal stays one."""
    if isinstance(expression, ex.Literal) and expression.type != type_ and expression.value is not None:
        return ex.literal(expression.value, type_)
    return expression if expression.type == type_ else ex.Cast(expression, type_)


def _rel(options: object) -> Any:
    from substrait_dsl.fluent.base import RelationBase

    return options._rel if isinstance(options, RelationBase) else None


def _relation(value: object, what: str) -> Any:
    """Return the relation that a subquery is about. Raises `InvalidArgumentError` for anything else."""
    rel = _rel(value)
    if rel is None:
        hint = relation_hint(value)
        if isinstance(value, list | tuple) and any(isinstance(each, ExprBase) for each in value):
            hint = "functions.or_(*conditions) is true if one of them is, functions.and_(*conditions) if all are"
        raise InvalidArgumentError(f"{what} takes a relation", got=value, hint=hint)
    return rel


def _sequence(options: object) -> list[Any]:
    if isinstance(options, str | bytes | Mapping | ExprBase) or not hasattr(options, "__iter__"):
        match options:
            case str():
                hint = None
            case ExprBase(_node=ex.Expression(type=List())):
                hint = IN_LIST
            case _:
                hint = relation_hint(options)
        raise InvalidArgumentError("is_in takes a list of values or a relation", got=options, hint=hint)
    return list(options)


def _same_type(part: Any, type_: Type) -> ex.Expression:
    """Return a part as an expression; a Python value as a literal of the type."""
    if isinstance(part, ex.Expression):
        return part
    if isinstance(part, NoValue):
        raise TypeMismatchError(f"{part._lacks}, not a value", hint=part._advice)
    return ex.literal(unwrap_constants(part), type_.as_nullable() if part is None else type_.as_required())


def _require_expression(value: object, expected: str) -> None:
    """Raise for what is no expression, where a Python value does not say what it is meant to be."""
    match value:
        case ExprBase():
            return
        case NoValue():
            raise TypeMismatchError(f"{expected}, but {value._lacks}", hint=value._advice)
        case str():
            raise no_column(expected, value)
        case None:
            hint = "null(type) is a NULL"
        case _:
            hint = "r.x or col('x') is a column, lit(value) a constant"
    raise InvalidArgumentError(f"{expected}", got=value, hint=hint)


class record(Picklable, Called):  # noqa: N801  # used as a function
    """Several values compared together: ``record(r.a, r.b).is_in([(1, "x"), (2, "y")])``.

    Args:
        values: expressions, at least one. Raises `InvalidArgumentError` for anything else.

    Specification: ``MultiOrList``.

    Example:
        >>> sd.record(sd.col("id"), sd.col("customer")).is_in([(1, 2)])
        Expr(is_in(id, customer, 1, 2))
    """

    __slots__ = ("values",)

    def __init__(self, *values: ExprBase) -> None:
        if not values:
            raise InvalidArgumentError("record takes at least one value")
        for value in values:
            _require_expression(value, "record takes expressions")
        self.values = values

    def __repr__(self) -> str:
        return f"record({', '.join(map(repr, self.values))})"

    def is_in(self, options: Sequence[Sequence[object]] | RelationBase) -> Expr[Boolean, Any]:
        """Test whether the values together equal one of `options`, in three-valued logic.

        Args:
            options: tuples of as many values or expressions; or a relation of as many columns.

        Returns:
            A boolean expression, nullable if any value is. Raises `InvalidArgumentError` for another number of values,
            `TypeMismatchError` for other types.

        Specification: ``MultiOrList``, ``Subquery.InPredicate``.

        Example:
            >>> print(orders.filter(lambda o: sd.record(o.id, o.customer).is_in([(1, 2), (3, 4)])))
            filter (id, customer) in ((1, 2), (3, 4))
              read orders -> id: i64, customer: i64, price: fp64?
        """
        rel = _rel(options)
        width = len(self.values)
        if rel is not None:
            return combine("is_in", partial(_in_predicate, rel), self.values)
        records = [tuple(_sequence(option)) for option in _sequence(options)]
        for option in records:
            if len(option) != width:
                raise InvalidArgumentError(
                    f"is_in: {width} values, but a tuple of {len(option)}: {option!r}", names=[option]
                )

        options = [item for option in records for item in option]
        return combine("is_in", partial(_or_list_of_records, width), [*self.values, *options])


def exists(relation: RelationBase) -> Expr[Boolean, Req]:
    """Test whether a relation has any row.

    Args:
        relation: the relation; it may use columns of the row around it.

    Returns:
        A required boolean expression. Raises `InvalidArgumentError` for what is no relation.

    Specification: ``Subquery.SetPredicate``.

    Example:
        >>> print(customers.filter(lambda c: sd.exists(orders.filter(lambda o: o.customer == c.key))))
        filter exists (subquery #1)
          subquery #1: filter customer = outer.key
            read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    return bound_expr(ex.SetPredicate("exists", _relation(relation, "exists")), None)


def unique(relation: RelationBase) -> Expr[Boolean, Req]:
    """Test whether no two rows of a relation are equal.

    Args:
        relation: the relation; it may use columns of the row around it.

    Returns:
        A required boolean expression. Raises `InvalidArgumentError` for what is no relation.

    Specification: ``Subquery.SetPredicate``.

    Example:
        >>> print(customers.project(distinct=sd.unique(orders.select("customer"))))
        project -> *, distinct: boolean = unique (subquery #1)
          subquery #1: emit -> customer: i64
            read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    return bound_expr(ex.SetPredicate("unique", _relation(relation, "unique")), None)


def scalar_subquery(relation: RelationBase) -> DynExpr:
    """Take the value of a relation with one column and at most one row; more rows fail the query.

    Args:
        relation: the relation; it may use columns of the row around it.

    Returns:
        An expression: NULL if there is no row, so nullable unless the relation surely has one (an aggregate without
        keys). Raises `SchemaError` for a relation of several columns.

    Specification: ``Subquery.Scalar``.

    Example:
        >>> dearest = orders.aggregate(dearest=lambda o: f.max(o.price))
        >>> print(orders.filter(lambda o: o.price == sd.scalar_subquery(dearest)))
        filter price = (subquery #1)
          subquery #1: aggregate -> dearest: fp64? = max(price)
            #2: read orders -> id: i64, customer: i64, price: fp64?
          see #2 above (read orders)
    """
    rel = _relation(relation, "scalar_subquery")
    return bound_expr(ex.ScalarSubquery(rel), None, rel.schema.names[0])


def any_of(relation: RelationBase) -> Quantified:
    """Compare with any row of a relation: ``r.x > any_of(rel)``.

    Args:
        relation: a relation of one column, of the type of the left operand.

    Returns:
        The right operand of a comparison, which is a boolean expression. Raises `InvalidArgumentError` for what is no
        relation.

    Specification: ``Subquery.SetComparison``.

    Example:
        >>> print(customers.filter(lambda c: c.key == sd.any_of(orders.select("customer"))))
        filter key = any (subquery #1)
          subquery #1: emit -> customer: i64
            read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    return Quantified("any", relation)


def all_of(relation: RelationBase) -> Quantified:
    """Compare with all rows of a relation: ``r.x > all_of(rel)``; true if there are none.

    Args:
        relation: a relation of one column, of the type of the left operand.

    Returns:
        The right operand of a comparison, which is a boolean expression. Raises `InvalidArgumentError` for what is no
        relation.

    Specification: ``Subquery.SetComparison``.

    Example:
        >>> print(customers.filter(lambda c: c.key > sd.all_of(orders.select("customer"))))
        filter key > all (subquery #1)
          subquery #1: emit -> customer: i64
            read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    return Quantified("all", relation)


class _Unfinished(Picklable, NoValue):
    """A conditional that lacks its next part, and so has no part that comes later."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownAttributeError(f'{self._lacks}, and so no "{name}"', names=[name], hint=self._advice)


refuse_operators(_Unfinished)


class When(_Unfinished, Generic[R]):
    """A condition that waits for its value. `R` is what all of it becomes: an expression, or a measure."""

    __slots__ = ("_before", "_condition")
    _lacks = "when(...) has no then(...)"
    _advice = "write when(...).then(value).otherwise(value)"

    def __init__(self, condition: Condition, before: tuple[tuple[Condition, object], ...] = ()) -> None:
        if not isinstance(condition, ExprBase | MeasureBase):
            raise InvalidArgumentError("when takes a condition", got=condition, hint=bool_hint(condition))
        self._condition = condition
        self._before = before

    @overload
    def then(self, value: MeasureBase) -> Then[Measure[Any, Any]]: ...
    @overload
    def then(self, value: Branch) -> Then[R]: ...
    def then(self, value: object) -> Then[Any]:
        """Return the value if the condition is true."""
        return Then((*self._before, (self._condition, value)))


class Then(_Unfinished, Generic[R]):
    """Conditions with their values, waiting for another or for the value that holds otherwise."""

    __slots__ = ("_clauses",)
    _lacks = "when(...).then(...) has no otherwise(...)"
    _advice = "finish it with .otherwise(value); otherwise(None) gives NULL"

    def __init__(self, clauses: tuple[tuple[Condition, object], ...]) -> None:
        self._clauses = clauses

    @overload
    def when(self, condition: MeasureBase) -> When[Measure[Any, Any]]: ...
    @overload
    def when(self, condition: ExprBase) -> When[R]: ...
    def when(self, condition: Condition) -> When[Any]:
        """Return a further condition, tried if the ones before are not true."""
        return When(condition, self._clauses)

    @overload
    def otherwise(self, value: MeasureBase) -> Measure[Any, Any]: ...
    @overload
    def otherwise(self, value: Branch) -> R: ...
    def otherwise(self, value: object) -> Any:
        """Return the whole expression, with the value that holds if no condition is true; None for NULL."""
        operands = [part for clause in self._clauses for part in clause]
        return _combine("if_then", _if_then, [*operands, value])


@overload
def when(condition: MeasureBase) -> When[Measure[Any, Any]]: ...
@overload
def when(condition: ExprBase) -> When: ...
def when(condition: Condition) -> When[Any]:
    """Start a conditional: ``when(r.x > 0).then("plus").when(r.x < 0).then("minus").otherwise("zero")``.

    Args:
        condition: a boolean expression; its value counts if it is true, and none before it is. With a measure, here or
            as a value, all of it is a measure.

    Returns:
        What waits for ``then(value)``. All values must have one type; Python values take the type of the others. The
        expression is nullable if any value is. Raises `TypeMismatchError` for values of different types.

    Specification: ``Expression.IfThen``.

    Example:
        >>> print(orders.project(size=lambda o: sd.when(o.price > 5.0).then("large").otherwise("small")))
        project -> *, size: string = case when price > 5.0 then 'large' else 'small' end
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return When(condition)


@overload
def switch(match: MeasureBase, cases: Mapping[Any, object], default: object) -> Measure[Any, Any]: ...
@overload
def switch(match: ExprBase, cases: Mapping[Any, object], default: object) -> DynExpr: ...
def switch(match: Any, cases: Mapping[Any, object], default: object) -> Any:
    """Choose the value of the case that equals `match`: ``switch(r.size, {"S": 1, "M": 2}, default=None)``.

    Args:
        match: the expression to compare, or a measure, which gives a measure.
        cases: Python values of its type, with the value that holds if it equals them.
        default: the value that holds otherwise; None for NULL.

    Returns:
        The expression, nullable if any value is. Raises `LiteralError` for a case that does not fit the type of
        `match`, `TypeMismatchError` for values of different types.

    Specification: ``Expression.SwitchExpression``.

    Example:
        >>> print(orders.select(level=lambda o: sd.switch(o.customer, {1: "gold"}, default=None)).schema)
        0  level  string?
    """
    if not isinstance(match, MeasureBase):
        _require_expression(match, "switch takes an expression to compare")
    if not isinstance(cases, Mapping):
        raise InvalidArgumentError(
            "the cases of a switch are a dict of results by value",
            got=cases,
            hint='write switch(x, {1: "one", 2: "two"}, default=None)',
        )
    return _combine("switch", partial(_switch, tuple(cases)), [match, *cases.values(), default])


def _combine(what: str, make: Make, operands: Sequence[Any]) -> Any:
    """Return what is made of expressions, or, if there are measures among them, of measures."""
    if any(isinstance(each, MeasureBase) for each in operands):
        from substrait_dsl.fluent.computed_measures import compute_from

        return compute_from(partial(combine, what, make), operands)
    return combine(what, make, operands)


def _if_then(parts: Sequence[Any]) -> ex.Expression:
    conditions, results = parts[0:-1:2], [*parts[1:-1:2], parts[-1]]
    values = alike(results, "the branches of an if")
    clauses = tuple(ex.IfClause(c, v) for c, v in zip(conditions, values[:-1], strict=True))
    return ex.IfThen(clauses, values[-1])


def _switch(keys: Sequence[object], parts: Sequence[Any]) -> ex.Expression:
    subject, *results = parts
    values = alike(results, "the branches of a switch")
    labels = [ex.literal(key, subject.type.as_required()) for key in keys]
    return ex.Switch(subject, tuple(map(ex.SwitchCase, labels, values[:-1])), values[-1])


def alike(parts: Sequence[Any], what: str) -> list[ex.Expression]:
    """Parts, of which some are Python values, as expressions of one type and one nullability (spec decision 21).

    Numbers of several types are cast to the one that holds all of their values, if there is one.
    """
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    plain = [part for part in parts if not isinstance(part, ex.Expression)]
    for part in plain:
        if isinstance(part, NoValue):
            raise TypeMismatchError(f"{part._lacks}, not a value", hint=part._advice)
        require_no_shown(part)
    if not typed and all(part is None for part in plain):
        raise LiteralError(f"{what} are all None", hint="give one of them a type: null(type)")
    types = [part.type for part in typed] or [ex.natural_type(part) for part in plain if part is not None]
    type_ = common_number(types) or common_type(types, what)
    type_ = type_.with_nullability(type_.nullable or any(part is None for part in plain))
    return [_as(part, type_, what) for part in parts]


def _as(part: Any, type_: Type, what: str) -> ex.Expression:
    if not isinstance(part, ex.Expression):
        try:
            return ex.literal(part, type_)
        except LiteralError as error:
            raise TypeMismatchError(f"{what} must have one type", reason=error) from None
    return part if part.type == type_ else ex.Cast(part, type_)
