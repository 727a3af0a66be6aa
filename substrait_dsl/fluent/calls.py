"""Calls of the catalogue's functions: overload choice, literals for Python values, result types."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, NoReturn

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.catalog import Catalog, EnumValue, Given, Kind, Open, Resolution, Typed, TypeValue, standard_catalog
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, LiteralError, TypeMismatchError
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, derived, resolve
from substrait_dsl.fluent.guidance import argument_hint
from substrait_dsl.fluent.scope import Scope

T = TypeVar("T", bound=t.Type)
N = TypeVar("N", bound=t.Null, covariant=True, default=t.Req)

Options = Mapping[str, str | Sequence[str]]
"""Function options: a value, or several in order of preference, for each name."""

_SPLICED = ("and", "or")

_ARITHMETIC = frozenset(("add", "subtract", "multiply", "divide", "modulus"))
_ALIKE = _ARITHMETIC | {"equal", "not_equal", "lt", "lte", "gt", "gte"}
"""Functions of two operands of one type; others of that name and number exist, but none for that type."""

_SCALARS = frozenset((bool, int, float, str, decimal.Decimal, dt.date, dt.datetime))


def scalar(
    name: str,
    operands: Sequence[object],
    options: Options | None = None,
    *,
    urn: str | None = None,
    catalog: Catalog | None = None,
) -> DynExpr:
    """A call of a scalar function.

    Args:
        name: the function's name; the overload follows from the operands.
        operands: expressions; Python values, which become literals of the type the overload needs; words, for
            arguments that take one of the function's own words.
        options: the function's options.
        urn: the extension to look in; by default all.
        catalog: the functions to choose from; by default the specification's own.

    Raises `FunctionNotFoundError` for no such function or overload, `InvalidChoiceError` for an unknown option.
    """
    return derived(partial(scalar_call, name, options or {}, urn, catalog), operands)


def scalar_call(
    name: str, options: Options, urn: str | None, catalog: Catalog | None, parts: Sequence[Any]
) -> ex.ScalarFunction:
    """The call of the algebra, of parts that are expressions of one row, or Python values. Raises as `scalar` does."""
    if len(parts) == 2 and name in _ALIKE:
        parts = _alike(name, *parts)
    resolution = _resolution("scalar", name, parts, options, urn, catalog)
    arguments = _arguments(resolution, parts)
    function = ex.FunctionId(resolution.overload.urn, resolution.overload.key)
    first = arguments[0] if arguments else None
    if name in _SPLICED and isinstance(first, ex.ScalarFunction) and first.function == function:
        arguments = (*first.arguments, *arguments[1:])  # `a & b & c` is one call of three, not nested ones
    return ex.ScalarFunction(function, arguments, resolution.output_type, _options(resolution))


def _alike(name: str, left: Any, right: Any) -> list[Any]:
    """The operands, a Python value as a literal of the other operand's type if it fits: the usual case, and fast."""
    for value, other in ((left, right), (right, left)):
        if type(value) in _SCALARS and isinstance(other, ex.Expression):
            if name in _ARITHMETIC and isinstance(other.type, t.Decimal) and type(value) in (int, decimal.Decimal):
                # Decimal arithmetic takes any two decimals: the digits of the value are all that it needs.
                kind = ex.natural_type(decimal.Decimal(value))
            else:
                kind = other.type.as_required()
            try:
                made = ex.literal(value, kind)
            except LiteralError:
                continue
            return [made, right] if value is left else [left, made]
    return [left, right]


class RelationLike:
    """What every relation of the fluent layer is; named here because a relation is no value."""

    __slots__ = ()


class Unfinished:
    """Something that becomes an expression with one more call, and what to tell those who forget it."""

    __slots__ = ()
    lacks: ClassVar[str]
    """What is there, and what it lacks."""
    advice: ClassVar[str]


class MeasureBase:
    """What every `Measure` is, whatever its type."""

    __slots__ = ("_call", "_distinct", "_filter", "_name", "_sorts")

    _call: FunctionCall
    _distinct: bool
    _filter: object
    _sorts: tuple[object, ...]
    _name: str | None


class FunctionCall:
    """The name, operands and options of a call whose relation is not known yet."""

    __slots__ = ("catalog", "name", "operands", "options", "urn")

    def __init__(
        self, name: str, operands: Sequence[object], options: Options, urn: str | None, catalog: Catalog | None
    ) -> None:
        self.name, self.operands, self.options, self.urn, self.catalog = name, operands, options, urn, catalog


class Measure(MeasureBase, Generic[T, N]):
    """An aggregate function, for `Relation.aggregate`; it is no expression and has no operators."""

    __slots__ = ()

    def __init__(self, call: FunctionCall) -> None:
        self._call, self._distinct, self._filter, self._sorts, self._name = call, False, None, (), None

    def distinct(self) -> Measure[T, N]:
        """Aggregate each value once."""
        return self._with(_distinct=True)

    def filter(self, condition: ExprBase) -> Measure[T, N]:
        """Aggregate only the rows for which the condition is true."""
        return self._with(_filter=condition)

    def order_by(self, *keys: ExprBase | SortKey | str) -> Measure[T, N]:
        """Aggregate the rows in this order."""
        return self._with(_sorts=keys)

    def alias(self, name: str) -> Measure[T, N]:
        """The same measure under a name."""
        return self._with(_name=name)

    def _with(self, **changed: Any) -> Measure[T, N]:
        measure: Measure[T, N] = Measure(self._call)
        for slot in MeasureBase.__slots__:
            setattr(measure, slot, changed.get(slot, getattr(self, slot)))
        return measure

    def __repr__(self) -> str:
        return f"Measure({self._call.name})"


class WindowFunction:
    """A window function. It becomes an expression once it has a window."""

    __slots__ = ("call",)

    def __init__(self, call: FunctionCall) -> None:
        self.call = call

    def __repr__(self) -> str:
        return f"WindowFunction({self.call.name})"


def _no_operators(self: MeasureBase, *_: object) -> NoReturn:
    raise TypeMismatchError(
        "an aggregate function is no value to compute with",
        hint="name it in aggregate(...), then compute with the column in with_columns(...)",
    )


for _operator in ("add", "sub", "mul", "truediv", "mod", "neg", "lt", "le", "gt", "ge", "and", "or", "invert"):
    setattr(MeasureBase, f"__{_operator}__", _no_operators)
    setattr(MeasureBase, f"__r{_operator}__", _no_operators)


def measure_node(measure: MeasureBase, scope: Scope, sort_keys: Callable[..., tuple[ex.SortKey, ...]]) -> ex.Measure:
    """The measure of the algebra, over the rows of a scope. Raises as `scalar` does."""
    call = measure._call
    parts = [resolve(operand, scope) if isinstance(operand, ExprBase) else operand for operand in call.operands]
    resolution = _resolution("aggregate", call.name, parts, call.options, call.urn, call.catalog)
    function = ex.AggregateFunction(
        ex.FunctionId(resolution.overload.urn, resolution.overload.key),
        _arguments(resolution, parts),
        resolution.output_type,
        _options(resolution),
        sort_keys(measure._sorts, scope),
        "distinct" if measure._distinct else "all",
    )
    condition = measure._filter
    if condition is None:
        return ex.Measure(function)
    if not isinstance(condition, ExprBase):
        raise InvalidArgumentError(f"the filter of a measure is an expression, got {condition!r}")
    return ex.Measure(function, resolve(condition, scope))


def _resolution(
    kind: Kind, name: str, parts: Sequence[Any], options: Options, urn: str | None, catalog: Catalog | None
) -> Resolution:
    given = [_given(part, name) for part in parts]
    preferences = {key: _preferences(name, key, value) for key, value in options.items()} if options else {}
    try:
        return (catalog or standard_catalog()).resolve(kind, name, given, options=preferences, urn=urn)
    except FunctionNotFoundError as error:
        error.hint = error.hint or argument_hint(name, parts)
        raise


def _preferences(name: str, option: str, value: object) -> tuple[str, ...]:
    """The values of a function option, in order of preference."""
    values = (value,) if isinstance(value, str) else value
    if isinstance(values, Sequence) and all(isinstance(each, str) for each in values):
        return tuple(values)
    hint = f"write {name}(...).{option}()" if option == "distinct" else None
    raise InvalidArgumentError(f"the option {option} of {name} takes a word or several, got {value!r}", hint=hint)


def _given(part: Any, name: str) -> Given:
    """A part of a call as the catalogue wants to know it."""
    match part:
        case ex.Literal(value=int() as value) if not isinstance(value, bool):
            return Typed(part.type, value, constant=True)
        case ex.FieldReference():
            return Typed(part.type, constant=False)
        case ex.Expression():
            return Typed(part.type)
        case t.Type():
            return TypeValue(part)
        case type() if issubclass(part, t.Type):
            from substrait_dsl.fluent.schemas import as_type

            return TypeValue(as_type(part))
        case None:
            raise InvalidArgumentError(
                f"{name}: None has no type here", hint="use is_null() to test, null(type) for a typed NULL"
            )
        case MeasureBase():
            raise TypeMismatchError(
                f"{name} takes values, but {part._call.name} is an aggregate function",
                hint="name it in aggregate(...), then use the column",
            )
        case WindowFunction():
            raise TypeMismatchError(f"{name} takes values, but {part.call.name} is a window function without a window")
        case Unfinished():
            raise TypeMismatchError(f"{name} takes values, but {part.lacks}", hint=part.advice)
        case _ if isinstance(part, RelationLike):
            raise TypeMismatchError(
                f"{name} takes values, not a relation",
                hint="scalar_subquery(rel) is its one value, any_of(rel) and all_of(rel) compare with every row",
            )
        case _ if callable(part):
            raise InvalidArgumentError(f"{name} takes expressions and values, not the function {part!r}")
    try:
        default = ex.natural_type(part)
    except LiteralError as error:
        raise InvalidArgumentError(f"{name}: {error.message}", hint=error.hint) from None
    except RecursionError:
        raise InvalidArgumentError(f"{name}: a value is nested too deeply") from None
    integer = part if type(part) is int else None
    also: tuple[t.Type, ...] = ()
    if integer is not None:
        also = (ex.natural_type(decimal.Decimal(integer)),)
    elif isinstance(part, str) and part:
        also = (t.VarChar(len(part)),)
    return Open(default, partial(ex.fits, part), part if isinstance(part, str) else None, also, integer, repr(part))


def _arguments(resolution: Resolution, parts: Sequence[Any]) -> tuple[ex.Argument, ...]:
    arguments: list[ex.Argument] = []
    for part, kind in zip(parts, resolution.argument_types, strict=True):
        match kind:
            case EnumValue(name):
                arguments.append(ex.EnumArgument(name))
            case TypeValue(type=value):
                arguments.append(ex.TypeArgument(value))
            case _:
                arguments.append(part if isinstance(part, ex.Expression) else ex.literal(part, kind))
    return tuple(arguments)


def _options(resolution: Resolution) -> tuple[ex.FunctionOption, ...]:
    return tuple(ex.FunctionOption(name, values) for name, values in resolution.options.items())
