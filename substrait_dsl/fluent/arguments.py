"""Arguments of function calls: expressions, Python values, words, types; and overload resolution for them."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.catalog import (
    CallArgument,
    Catalog,
    EnumValue,
    Kind,
    Open,
    Resolution,
    Typed,
    TypeValue,
    standard_catalog,
)
from substrait_dsl.catalog.widening import are_mixed
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, LiteralError, TypeMismatchError
from substrait_dsl.fluent.absent_operations import AbsentOfRelations
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.guidance import no_column, require_no_shown
from substrait_dsl.fluent.lambdas import LambdaFunction
from substrait_dsl.signature_errors import Called

Options = Mapping[str, str | Sequence[str]]
"""Function options: a value, or several in order of preference, for each name."""

Resolved = tuple[ex.FunctionId, tuple[ex.Argument, ...], t.Type, tuple[ex.FunctionOption, ...]]
"""A resolved call: the function, its arguments, the output type, the options."""

_ARITHMETIC = frozenset(("add", "subtract", "multiply", "divide", "modulus"))
_ALIKE = _ARITHMETIC | {"equal", "not_equal", "lt", "lte", "gt", "gte"}
"""Functions of two operands of one type; others of that name and number exist, but none for that type."""

_TEXTS = (t.String, t.VarChar, t.FixedChar)
_SCALARS = frozenset((bool, int, float, str, decimal.Decimal, dt.date, dt.datetime))


class NoValue(Called):
    """Base of objects that are easily mistaken for expressions, with the text of the error."""

    __slots__ = ()

    @property
    def _lacks(self) -> str:
        """What the object is, in words: "sum is an aggregate function"."""
        raise NotImplementedError

    @property
    def _advice(self) -> str:
        """The hint: what to write instead."""
        raise NotImplementedError


class RelationLike(AbsentOfRelations, NoValue):
    """Base of the relations of the fluent API; it is here because a relation is no value."""

    __slots__ = ()
    _lacks = "this is a relation"
    _advice = "scalar_subquery(rel) is its one value, any_of(rel) and all_of(rel) compare with every row"


def resolve_call(
    kind: Kind, name: str, parts: Sequence[Any], options: Options, urn: str | None, catalog: Catalog | None
) -> Resolved:
    """Resolve a call of a function with these arguments.

    Raises `FunctionNotFoundError` for no such function or overload, `InvalidChoiceError` for an unknown option.
    """
    if len(parts) == 2 and name in _ALIKE:
        parts = _alike(name, *parts)
    resolution, parts = _resolution(kind, name, parts, options, urn, catalog)
    _require_column(
        kind,
        name,
        [
            part
            for part, of in zip(parts, resolution.argument_types, strict=True)
            if not isinstance(of, EnumValue | TypeValue)
        ],
    )
    return resolution.overload.function, _arguments(resolution, parts), resolution.output_type, _options(resolution)


def _resolution(
    kind: Kind, name: str, parts: Sequence[Any], options: Options, urn: str | None, catalog: Catalog | None
) -> tuple[Resolution, Sequence[Any]]:
    """Return the resolution and the parts, cast where no overload takes numbers as they are."""
    described = [describe_operand(part, name) for part in parts]
    functions = catalog or standard_catalog()
    if are_mixed(described) and (types := functions.widen(kind, name, described, urn)) is not None:
        parts = _cast(parts, types)
        described = [describe_operand(part, name) for part in parts]
    preferences = {key: _preferences(name, key, value) for key, value in options.items()} if options else {}
    try:
        return functions.resolve(kind, name, described, options=preferences, urn=urn), parts
    except FunctionNotFoundError as error:
        refused = error
    wider = _types_beside_values(kind, name, described, urn, functions)
    if wider is not None:
        return _resolution(kind, name, _cast(parts, wider), options, urn, catalog)
    _add_hint(refused, kind, name, parts, described, urn, functions)
    raise refused


def _cast(parts: Sequence[Any], types: Sequence[t.Type | None]) -> list[Any]:
    """Return the parts, those cast for which there is a type."""
    return [part if type_ is None else ex.Cast(part, type_) for part, type_ in zip(parts, types, strict=True)]


def _types_beside_values(
    kind: Kind, name: str, described: Sequence[CallArgument], urn: str | None, catalog: Catalog
) -> Sequence[t.Type | None] | None:
    """Return the types that numbers are cast to where no number of another type stands beside them.

    None for an operator, in which a Python value takes the type of the other operand, or is refused.
    """
    from substrait_dsl.fluent.operand_hints import OPERATORS

    return None if name in OPERATORS else catalog.widen(kind, name, described, urn)


def _add_hint(
    error: FunctionNotFoundError,
    kind: Kind,
    name: str,
    parts: Sequence[Any],
    described: Sequence[CallArgument],
    urn: str | None,
    catalog: Catalog,
) -> None:
    """Say what to write instead of a call that no overload takes."""
    from substrait_dsl.fluent.operand_hints import (
        argument_hint,
        catalog_hint,
        comparison_hint,
        is_mistake,
        refused_value,
    )

    foreign = catalog_hint(name, parts) if catalog is standard_catalog() else None
    error.hint = error.hint or foreign or argument_hint(name, parts)
    if error.hint is None:
        cast = partial(catalog.possible_cast, kind, name, described, urn)
        text = partial(_as_text, kind, name, parts, described, urn)
        order = partial(_other_order, kind, name, described, urn, catalog)
        refused = refused_value(name, parts)
        if refused is None or not is_mistake(name, refused, parts):
            error.hint = order() or _either(cast(), text())
        if error.hint is None and refused is not None:
            error.refused_value = refused
            error.hint = lambda: f"{refused.message}; {refused.hint}" if refused.hint else refused.message
        elif error.hint is None:
            error.hint = _untyped_hint(described, parts) or comparison_hint(name, parts)


def _either(cast: str | None, written: str | None) -> str | None:
    """Return the advice to cast one argument, and that to write another one otherwise."""
    return f"{cast}, or {written}" if cast and written else cast or written


def _as_text(
    kind: Kind, name: str, parts: Sequence[Any], described: Sequence[CallArgument], urn: str | None
) -> str | None:
    """Return the hint to write a number as a string, if an overload takes that."""
    if not any(isinstance(part, ex.Expression) and isinstance(part.type, _TEXTS) for part in parts):
        return None
    for position, part in enumerate(parts):
        if type(part) in (int, float, decimal.Decimal):
            text = [*described[:position], describe_operand(str(part), name), *described[position + 1 :]]
            try:
                standard_catalog().resolve(kind, name, text, urn=urn)
            except FunctionNotFoundError:
                continue
            return f'write "{part}", a text'
    return None


def _require_column(kind: Kind, name: str, values: Sequence[Any]) -> None:
    """Raise `InvalidArgumentError` for ``upper("name")``: a text that is the same in all rows was meant as a name.

    A scalar function may take one, if it takes a column, too.
    """
    has_column = any(isinstance(value, ex.Expression | LambdaFunction) for value in values)
    if values and isinstance(values[0], str) and (kind != "scalar" or not has_column):
        raise no_column(f"{name} takes a column or an expression", values[0])


def _untyped_hint(described: Sequence[CallArgument], parts: Sequence[Any]) -> str | None:
    """Return the hint for a list, a map or a struct whose type neither its values nor the other operands determine."""
    for each, part in zip(described, parts, strict=True):
        if isinstance(each, Open) and each.default is None and isinstance(part, list | tuple | dict):
            return f"say the type of {part!r}: lit({part!r}, type)"
    return None


def _other_order(
    kind: Kind, name: str, described: Sequence[CallArgument], urn: str | None, catalog: Catalog
) -> str | None:
    """Return the order in which an overload takes these few arguments, if there is one."""
    for order in permutations(described) if len(described) <= 3 else ():
        try:
            catalog.resolve(kind, name, order, urn=urn)
        except (FunctionNotFoundError, InvalidArgumentError):
            continue
        return f"the order is another: {name}({', '.join(map(str, order))})"
    return None


def _alike(name: str, left: Any, right: Any) -> list[Any]:
    """Return the operands, a Python value as a literal of the other operand's type if it fits.

    The usual case, and fast.
    """
    for value, other in ((left, right), (right, left)):
        if type(value) in _SCALARS and isinstance(other, ex.Expression):
            require_no_shown(value)
            if name in _ARITHMETIC and isinstance(other.type, t.Decimal) and type(value) in (int, decimal.Decimal):
                # Decimal arithmetic takes any two decimals: the digits of the value are all that it needs.
                type_ = ex.natural_type(decimal.Decimal(value))
            elif type(value) is decimal.Decimal and isinstance(other.type, t.INTEGER_TYPES):
                type_ = ex.natural_type(value)  # the integer becomes a decimal
            else:
                type_ = other.type.as_required()
            try:
                converted = ex.literal(value, type_)
            except LiteralError:
                continue
            return [converted, right] if value is left else [left, converted]
    return [left, right]


def _preferences(name: str, option: str, value: object) -> tuple[str, ...]:
    """Return the values of a function option, in order of preference."""
    values = (value,) if isinstance(value, str) else value
    if isinstance(values, Sequence) and all(isinstance(each, str) for each in values):
        return tuple(values)
    hint = f"write {name}(...).{option}()" if option == "distinct" else None
    raise InvalidArgumentError(f"the option {option} of {name} takes a word or several", got=value, hint=hint)


def describe_operand(part: Any, name: str) -> CallArgument:
    """Return a part of a call as the catalogue wants to know it."""
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
        case NoValue():
            raise TypeMismatchError(f"{name} takes values, but {part._lacks}", hint=part._advice)
        case LambdaFunction():
            return Open(None, lambda _: False, text=str(part))
        case ex.DaySeconds() | ex.Compound():  # how many digits their seconds have is for the other operand to say
            return Open(None, partial(ex.fits, part), text=repr(part))
    require_no_shown(part)
    integer = part if type(part) is int else None
    also: tuple[t.Type, ...] = ()
    if integer is not None:
        also = (ex.natural_type(decimal.Decimal(integer)),)
    elif isinstance(part, str) and part:
        also = (t.VarChar(len(part)),)
    word = part if isinstance(part, str) else None
    return Open(_natural_type(part, name), partial(ex.fits, part), word, also, integer, repr(part))


def _natural_type(part: Any, name: str) -> t.Type | None:
    """Return the type of a Python value.

    None for ``[]``, ``{}``, ``[None]``, ``(1, "x")``, where another operand says it.
    """
    try:
        return ex.natural_type(part)
    except (LiteralError, TypeMismatchError) as error:
        hint = None
        if isinstance(part, list | tuple) and any(isinstance(each, ExprBase) for each in part):
            hint = f"arguments are given one by one: {name}(*[...]); list_of(x, y) makes a list"
        elif isinstance(part, list | tuple | dict):
            return None
        raise InvalidArgumentError(name, reason=error, hint=hint) from None
    except InvalidArgumentError as error:
        raise InvalidArgumentError(name, reason=error) from None


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
    return tuple([ex.FunctionOption(name, values) for name, values in resolution.options.items()])
