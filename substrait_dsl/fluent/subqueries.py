"""Subqueries, and the comparisons that take a relation or a list in place of one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.number_types import common_number
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.types import Boolean, List, Req, Type
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.calls import MeasureBase, scalar
from substrait_dsl.fluent.choices import require_expression
from substrait_dsl.fluent.expr import DynExpr, Expr, ExprBase, bound_expr, combine, unwrap_constants
from substrait_dsl.fluent.guidance import IN_LIST, relation_hint
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    from substrait_dsl.fluent.base import RelationBase


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


def is_in_list(value: ExprBase, values: Any) -> DynExpr:
    """Return whether a value is one of several, or a row of a relation of one column."""
    rel = _rel(values)
    if rel is not None:
        return combine("is_in", partial(_build_in_predicate, rel), [value])
    return combine("is_in", _or_list, [value, *_sequence(values)])


def _set_comparison(
    reduction: ex.ReductionOp, comparison: ex.ComparisonOp, rel: Rel, parts: Sequence[Any]
) -> ex.Expression:
    return ex.SetComparison(reduction, comparison, parts[0], rel)


def _build_in_predicate(rel: Rel, parts: Sequence[Any]) -> ex.Expression:
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
            require_expression(value, "record takes expressions")
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
            return combine("is_in", partial(_build_in_predicate, rel), self.values)
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
