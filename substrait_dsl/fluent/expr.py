"""Expressions of the fluent API: ``r.price * (1 - r.discount) > 100``.

An `Expr` is either bound to the row of one call of a verb, and then it is an expression of the algebra with a type; or
unbound, because it names a column (``col("x")``) of a row that is not known yet. An unbound one has a function and
operands, from which it becomes an expression of the algebra when a verb binds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Self, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.types import Boolean, Null, Nullable, Req, Type, WrittenAs
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    TypeMismatchError,
    require,
    require_choice,
)
from substrait_dsl.fluent.absent_operations import no_operation
from substrait_dsl.fluent.guidance import no_method, no_text
from substrait_dsl.fluent.operators import Approximate, Exact, Operators, PythonValue
from substrait_dsl.fluent.parts import Part
from substrait_dsl.fluent.scope import NO_ROW, Scope
from substrait_dsl.fluent.truth_values import NoTruthValue
from substrait_dsl.signature_errors import Called

if TYPE_CHECKING:
    import decimal

    from substrait_dsl.fluent.base import RelationBase

T = TypeVar("T", bound=Type)
N = TypeVar("N", bound=Null, covariant=True, default=Req)
T2 = TypeVar("T2", bound=Type)
V = TypeVar("V")

Value = Operators[Any, Any, Any] | PythonValue
"""What an expression of any type computes with, other than a measure, of which it makes a measure."""

Nulls = Literal["first", "last"]
"""Where NULLs stand in an order."""

Make = Callable[[Sequence[Any]], ex.Expression]
"""Makes an expression from operands: expressions, in the places of `Expr`, and everything else as it was given."""


_NO_SEQUENCE = "use expression[0] for an element of a list, functions.sum(x) and the like for all values of a column"


class ExprBase(Picklable, Called):
    """The base class of `Expr`, whatever its type."""

    __slots__ = ("_leaf", "_make", "_name", "_node", "_operands", "_scope", "_what")

    _node: ex.Expression | None
    _scope: Scope | None
    _make: Make | None
    _operands: Sequence[Any]
    _leaf: Callable[[Scope], ex.Expression] | None
    _name: str | None
    _what: str


class Expr(ExprBase, Operators[T, T, N], Generic[T, N]):
    """An expression of type `T`, nullable (`N` is `Null`) or required (`Req`).

    Operators build expressions; `functions` has everything else. An expression is no truth value: ``if e``,
    ``e and f`` and ``a < e < b`` raise and say what to write instead. Nor is it a text: ``f"{e}"`` raises;
    ``print(e)`` and ``f"{e!r}"`` show it.
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise InvalidArgumentError("an expression is made by col(...), lit(...), or by the row that a lambda gets")

    def alias(self, name: str) -> Expr[T, N]:
        """Give the expression a name, for a column that it becomes.

        Args:
            name: the name.

        Example:
            >>> orders.select((sd.col("price") * 2.0).alias("double")).columns
            ('double',)
        """
        require(name, str, "the name of a column is a str")
        renamed = _copy(self)
        renamed._name = name
        return renamed

    @overload
    def cast(self, to: type[Nullable[T2]], *, on_failure: ex.FailureBehavior = ...) -> Expr[T2, Null]: ...
    @overload
    def cast(self, to: type[T2] | T2, *, on_failure: Literal["throw"] = ...) -> Expr[T2, N]: ...
    @overload
    def cast(self, to: type[T2] | T2, *, on_failure: Literal["return_null"]) -> Expr[T2, Null]: ...
    @overload
    def cast(self, to: str, *, on_failure: ex.FailureBehavior = ...) -> DynExpr: ...
    def cast(self, to: Any, *, on_failure: ex.FailureBehavior = "throw") -> Expr[Any, Any]:
        """Convert to another type.

        Args:
            to: the type, as in a schema: ``I64``, ``Decimal(15, 2)``, ``Nullable[String]``.
            on_failure: ``"throw"`` fails the query, ``"return_null"`` gives NULL.

        The result is nullable if the input is, if `to` is, or with ``"return_null"``. Raises `InvalidChoiceError` for
        another word. Specification: ``Expression.Cast``.

        Example:
            >>> print(orders.select(text=lambda o: o.id.cast("string")).schema)
            0  text  string
        """
        from substrait_dsl.fluent.schemas import as_type

        require_choice("on_failure", on_failure, ex.FAILURE_BEHAVIORS)
        target = as_type(to)

        return combine("cast", partial(_cast, target, on_failure), [self], self._name)

    def assert_not_null(self) -> Expr[T, Req]:
        """Require a value: the same one, of the required type; a NULL fails the query.

        For what only you know never to be NULL: after a filter, or `functions.coalesce` with a value that is required.
        The specification's functions do not say so: their result may be NULL if any argument may.
        Specification: ``Expression.Cast``, to the required type.

        Example:
            >>> print(orders.select(price=lambda o: o.price.assert_not_null()).schema)
            0  price  fp64
        """
        return combine("assert_not_null", _required, [self], self._name)

    def is_null(self) -> Expr[Boolean, Req]:
        """Test whether the value is NULL; the result is required. Specification: ``is_null``.

        Example:
            >>> sd.col("price").is_null()
            Expr(price is null: boolean)
        """
        return _call("is_null", self)

    def is_not_null(self) -> Expr[Boolean, Req]:
        """Test whether the value is not NULL; the result is required. Specification: ``is_not_null``.

        Example:
            >>> sd.col("price").is_not_null()
            Expr(price is not null: boolean)
        """
        return _call("is_not_null", self)

    @overload
    def between(
        self: Operators[WrittenAs[V], T, N],
        low: Expr[T, N] | Expr[T, Req] | V,
        high: Expr[T, N] | Expr[T, Req] | V,
    ) -> Expr[Boolean, N]: ...
    @overload
    def between(
        self: Operators[WrittenAs[V], T, N], low: Expr[T, Null] | V, high: Expr[T, Null] | V
    ) -> Expr[Boolean, Null]: ...
    @overload
    def between(
        self: Exact[Any], low: Exact[Any] | int | decimal.Decimal, high: Exact[Any] | int | decimal.Decimal
    ) -> Expr[Boolean, Any]: ...
    @overload
    def between(
        self: Approximate[Any], low: Approximate[Any] | float, high: Approximate[Any] | float
    ) -> Expr[Boolean, Any]: ...
    def between(self: Any, low: object, high: object) -> Expr[Boolean, Any]:
        """Test whether ``low <= value <= high``; nullable if any of the three is.

        Args:
            low: the smallest value, an expression or a Python value.
            high: the largest value.

        Raises `FunctionNotFoundError` for values of other types. Specification: ``between``.

        Example:
            >>> sd.col("id").between(10, 19)
            Expr(id between 10 and 19)
        """
        return _call("between", self, low, high)

    @overload
    def is_in(
        self: Operators[WrittenAs[V], T, N], options: Iterable[Expr[T, Null] | V | None] | RelationBase
    ) -> Expr[Boolean, Any]: ...
    @overload
    def is_in(self: Exact[Any], options: Iterable[Exact[Any] | int | None]) -> Expr[Boolean, Any]: ...
    @overload
    def is_in(self: Approximate[Any], options: Iterable[Approximate[Any] | float | None]) -> Expr[Boolean, Any]: ...
    def is_in(self: Any, options: Any) -> Expr[Boolean, Any]:
        """Test whether the value equals one of `options`, in three-valued logic; nullable if any side is.

        Args:
            options: values or expressions of this type, at least one; or a relation of one column (an IN subquery).

        Raises `TypeMismatchError` for options of another type, `LiteralError` for such values.
        Specification: ``SingularOrList``, ``Subquery.InPredicate``.

        Example:
            >>> print(orders.filter(lambda o: o.id.is_in([1, 2, 3])))
            filter id in (1, 2, 3)
              read orders -> id: i64, customer: i64, price: fp64?
        """
        from substrait_dsl.fluent.subqueries import is_in_list

        return is_in_list(self, options)

    def asc(self, nulls: Nulls = "first") -> SortKey:
        """Sort by this expression with the smallest first.

        Args:
            nulls: where NULLs stand: ``"first"`` (the default, as in Spark) or ``"last"``.

        Raises `InvalidChoiceError` for another word. Specification: ``SortField``.

        Example:
            >>> sd.col("price").asc(nulls="last")
            SortKey(Expr(price), asc_nulls_last)
        """
        return sort_key(self, "asc", nulls)

    def desc(self, nulls: Nulls = "last") -> SortKey:
        """Sort by this expression with the largest first.

        Args:
            nulls: where NULLs stand: ``"last"`` (the default, as in Spark) or ``"first"``.

        Raises `InvalidChoiceError` for another word. Specification: ``SortField``.

        Example:
            >>> sd.col("price").desc()
            SortKey(Expr(price), desc_nulls_last)
        """
        return sort_key(self, "desc", nulls)

    def keep(self, *parts: Part) -> DynExpr:
        """Keep only these fields of a struct, in this order: ``r.person.keep("name", {"address": ["city", "zip"]})``.

        Args:
            parts: names or positions of fields; a dict gives, for fields that are structs, the parts to keep of these,
                and for fields that are lists their `elements`: ``{"phones": sd.elements(first=5, keep=["number"])}``.

        The result is a struct, even of one field (spec decision 25), nullable if this one is. Raises
        `UnknownFieldError`, `TypeMismatchError` for what is no struct. Specification: ``MaskExpression``.

        Example:
            >>> people = sd.read_named("people", {"who": "nstruct<name: string, born: date>"})
            >>> print(people.select(who=lambda r: r.who.keep("name")).schema)
            0  who     struct<string>
                 name  string
        """
        from substrait_dsl.fluent.nested import mask_value

        return combine("keep", partial(mask_value, parts), [self], self._name)

    def __getitem__(self, key: object) -> DynExpr:
        """Return a field of a struct by name or position, an element of a list by offset, or the value of a map's key.

        Elements and values are nullable: an offset out of range and a missing key give NULL.
        """
        from substrait_dsl.fluent.nested import access_part

        return combine("part", partial(access_part, key), [self], key if isinstance(key, str) else None)

    def _ipython_key_completions_(self) -> list[str]:
        from substrait_dsl.fluent.unbound_repr import field_names

        return field_names(self)

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise no_method(name, dir(type(self)), None if self._node is None else self._node.type)

        # nor these operations for ones that there are
        def __floordiv__(self, other: object) -> NoReturn:
            raise no_operation("//")

        def __matmul__(self, other: object) -> NoReturn:
            raise no_operation("@")

        def __divmod__(self, other: object) -> NoReturn:
            raise no_operation("divmod")

        __rfloordiv__, __rmatmul__, __rdivmod__ = __floordiv__, __matmul__, __divmod__

        def __round__(self, digits: object = None) -> NoReturn:
            raise no_operation("round")

        def __lshift__(self, other: object) -> NoReturn:
            raise no_operation("<<")

        def __rshift__(self, other: object) -> NoReturn:
            raise no_operation(">>")

        def __len__(self) -> NoReturn:
            raise no_operation("len", "functions.char_length(x) of a text, functions.cardinality(x) of a list")

        def __int__(self) -> NoReturn:
            raise no_operation("int", "x.cast(I64)")

        def __float__(self) -> NoReturn:
            raise no_operation("float", "x.cast(FP64)")

        def __index__(self) -> NoReturn:
            raise no_operation("integer", "x[...] for an element of a list")

    if TYPE_CHECKING:  # a checker must refuse ``in`` and ``for``
        __contains__: None
        __iter__: None
    else:

        def __contains__(self, item: object) -> NoReturn:
            from substrait_dsl.hints import advice

            hint = f"write x.is_in([...]), or {advice('expression', 'contains')}"
            raise TypeMismatchError("an expression is not a container", hint=hint)

        def __iter__(self) -> NoReturn:
            raise TypeMismatchError("an expression is not a sequence", hint=_NO_SEQUENCE)

    def __bool__(self) -> NoTruthValue:
        raise TypeMismatchError(
            "an expression has no truth value before the query runs",
            hint="combine conditions with & and | and ~ (in parentheses), compare twice instead of a < b < c, "
            "and use when(...).then(...) instead of if, x.is_in([...]) instead of in, "
            "functions.greatest(x, y) instead of max",
        )

    def __format__(self, spec: str) -> NoReturn:
        raise no_text(f"{self!r}")

    def __repr__(self) -> str:
        from substrait_dsl.fluent.unbound_repr import sketch

        return f"Expr({sketch(self)})"

    def _repr_html_(self) -> str:
        from substrait_dsl.fluent.unbound_repr import sketch
        from substrait_dsl.render.html import expression_html

        return expression_html(sketch(self))

    __hash__ = object.__hash__  # `map_of` takes a dict of them


class DynExpr(Expr[Any, Any]):
    """An expression whose type is known when it is built, but not to a type checker."""

    __slots__ = ()

    if TYPE_CHECKING:  # what is made of it is not known either; `Any` would end all checking and completion there

        def alias(self, name: str) -> Self: ...
        def between(self, low: object, high: object) -> Expr[Boolean, Any]: ...
        def is_in(self, options: Iterable[object] | RelationBase) -> Expr[Boolean, Any]: ...
        def __add__(self, other: Value) -> DynExpr: ...
        def __sub__(self, other: Value) -> DynExpr: ...
        def __mul__(self, other: Value) -> DynExpr: ...
        def __truediv__(self, other: Value) -> DynExpr: ...
        def __mod__(self, other: Value) -> DynExpr: ...
        def __radd__(self, other: object) -> DynExpr: ...
        def __rsub__(self, other: object) -> DynExpr: ...
        def __rmul__(self, other: object) -> DynExpr: ...
        def __rtruediv__(self, other: object) -> DynExpr: ...
        def __rmod__(self, other: object) -> DynExpr: ...
        def __neg__(self) -> DynExpr: ...
        def __abs__(self) -> DynExpr: ...


class SortKey(Picklable):
    """An expression and how to sort by it (``SortField``); made by `asc`, `desc` and `clustered`."""

    __slots__ = ("direction", "expression")

    def __init__(self, expression: Any, direction: SortDirection | Callable[[Type], ex.FunctionId]) -> None:
        self.expression = expression
        self.direction = direction
        """A word; or what gives, for the type of the expression, the function that compares two of its values."""

    def __repr__(self) -> str:
        how = self.direction if isinstance(self.direction, str) else "compared"
        return f"SortKey({self.expression!r}, {how})"


def sort_key(expression: Any, order: Literal["asc", "desc"], nulls: Nulls) -> SortKey:
    """Return a sort key from words. Raises `InvalidChoiceError` for another word, as for a second column."""
    directions: dict[tuple[str, str], SortDirection] = {
        ("asc", "first"): "asc_nulls_first",
        ("asc", "last"): "asc_nulls_last",
        ("desc", "first"): "desc_nulls_first",
        ("desc", "last"): "desc_nulls_last",
    }
    try:
        require_choice("nulls", nulls, ("first", "last"))
    except InvalidChoiceError as error:
        error.hint = error.hint or _second_key(order, nulls)
        raise
    return SortKey(expression, directions[order, nulls])


def _second_key(order: str, nulls: object) -> str | None:
    """Return the hint for a second column in place of the argument `nulls`."""
    written = repr(nulls) if isinstance(nulls, str) else "..."
    return f"a second column has a key of its own: {order}({written})" if isinstance(nulls, str | ExprBase) else None


def _cast(to: Type, on_failure: ex.FailureBehavior, parts: Sequence[ex.Expression]) -> ex.Expression:
    (part,) = parts
    nullable = to.nullable or part.type.nullable or on_failure == "return_null"
    return ex.Cast(part, to.with_nullability(nullable), on_failure)


def _required(parts: Sequence[ex.Expression]) -> ex.Expression:
    (part,) = parts
    return ex.Cast(part, part.type.as_required()) if part.type.nullable else part


def bound_expr(node: ex.Expression, scope: Scope | None, name: str | None = None) -> DynExpr:
    """Return an expression over the row of a scope, or over no row at all."""
    return _new(node, scope, None, (), None, name, "")


def unbound_expr(leaf: Callable[[Scope], ex.Expression], name: str | None = None, what: str = "") -> DynExpr:
    """Return an expression that is known once a row is. `what` it is, in a word, if it is no column."""
    return _new(None, None, None, (), leaf, name, what)


def combine(what: str, make: Make, operands: Sequence[Any], name: str | None = None) -> DynExpr:
    """Return an expression made of others: at once if they all see one row, else when they meet it.

    `what` is made, in a word, is for those who look at it before that.
    """
    scope: Scope | None = None
    parts: list[Any] = []
    for operand in operands:
        if not isinstance(operand, ExprBase):
            parts.append(operand)
            continue
        if operand._node is None or (scope is not None and operand._scope not in (None, scope)):
            return _new(None, None, make, operands, None, name, what)
        scope = operand._scope or scope
        parts.append(operand._node)
    return bound_expr(make(parts), scope, name)


def combine_in_scope(
    what: str, leaf: Callable[[Scope], ex.Expression], parts: Iterable[ExprBase], name: str | None = None
) -> DynExpr:
    """Return an expression that `leaf` makes for a row: at once if all its parts see one row, else when it meets it.

    `what`: as for `combine`.
    """
    waiting = tuple(parts)
    scopes = {id(part._scope): part._scope for part in waiting if part._scope is not None}
    if len(scopes) > 1 or any(part._node is None for part in waiting):
        return _new(None, None, None, waiting, leaf, name, what)
    scope = next(iter(scopes.values()), None)
    return bound_expr(leaf(scope or NO_ROW), scope, name)


def _new(
    node: ex.Expression | None,
    scope: Scope | None,
    make: Make | None,
    operands: Sequence[Any],
    leaf: Callable[[Scope], ex.Expression] | None,
    name: str | None,
    what: str,
) -> DynExpr:
    expr = DynExpr.__new__(DynExpr)
    expr._node, expr._scope, expr._make, expr._operands = node, scope, make, operands
    expr._leaf, expr._name, expr._what = leaf, name, what
    return expr


def _copy(expr: ExprBase) -> DynExpr:
    return _new(expr._node, expr._scope, expr._make, expr._operands, expr._leaf, expr._name, expr._what)


def unwrap_constants(value: object) -> object:
    """Return a Python value with constants (`lit`) inside of it as literals of the algebra, which `literal` takes."""
    try:
        return _unwrap(value)
    except RecursionError:
        return value  # `literal` refuses it


def _unwrap(value: object) -> object:
    match value:
        case ExprBase(_node=ex.Literal() as constant):
            return constant
        case tuple():
            return tuple(map(_unwrap, value))
        case list():
            return [*map(_unwrap, value)]
        case dict():
            return {_unwrap(key): _unwrap(item) for key, item in value.items()}
    return value


def _call(name: str, *arguments: object) -> DynExpr:
    from substrait_dsl.fluent.calls import scalar

    return scalar(name, arguments)
