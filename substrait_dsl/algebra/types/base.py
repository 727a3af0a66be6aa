"""The base classes of types, and marks that only a type checker sees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, get_args, get_origin

import attrs
from typing_extensions import TypeVar

from substrait_dsl.algebra.frozen_values import FrozenValue, HashedOnce
from substrait_dsl.algebra.pickling import PickledByFields
from substrait_dsl.algebra.validators import TEXT, refusal, several
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.texts import printable

if TYPE_CHECKING:  # the annotations on a schema class are descriptors: reading one gives a typed expression
    from substrait_dsl.fluent.expr import Expr


class Null:
    """Type-level mark of a nullable expression; `Req` is its subtype.

    Specification: ``Type.Nullability``.

    Example:
        >>> def discount(price: sd.Expr[sd.FP64, sd.Null]) -> sd.Expr[sd.FP64, sd.Null]:
        ...     return price * 0.9
        >>> print(orders.select(price=lambda o: discount(o.price)).schema)
        0  price  fp64?
    """


class Req(Null):
    """Type-level mark of a required expression: accepted wherever a nullable one is.

    Specification: ``Type.Nullability``.

    Example:
        >>> def next_id(id: sd.Expr[sd.I64, sd.Req]) -> sd.Expr[sd.I64, sd.Req]:
        ...     return id + 1
        >>> print(orders.select(id=lambda o: next_id(o.id)).schema)
        0  id  i64
    """


V = TypeVar("V")


class WrittenAs(Generic[V]):
    """Type-level mark of a type whose values are written as Python values of type `V`."""

    __slots__ = ()


class Number(WrittenAs[V]):
    """Type-level mark of a type that arithmetic takes and gives back: all numbers but decimals."""

    __slots__ = ()


Wider = TypeVar("Wider", contravariant=True)


class NarrowerThan(Generic[Wider]):
    """Type-level mark of a number whose values all are values of other types, too, a union of which `Wider` is.

    It says of types what a table says of values (`algebra.number_types`).
    """

    __slots__ = ()


D = TypeVar("D", bound="Type")


@attrs.frozen(eq=False, repr=False)
class TypeVariation(FrozenValue):
    """A variation of a type, named by the extension (URN) that declares it.

    Args:
        urn: the URN of the extension.
        name: the name of the variation there.

    Specification: ``SimpleExtensionDeclaration.ExtensionTypeVariation``.

    Example:
        >>> sd.TypeVariation("extension:com.acme:texts", "json").name
        'json'
    """

    urn: str = attrs.field(validator=TEXT)
    name: str = attrs.field(validator=TEXT)


def _check_type(instance: Type, attribute: attrs.Attribute[TypeVariation | None], variation: object) -> None:
    """Check nullability and variation in one validator, since many types are built."""
    if type(instance) is Type:
        raise InvalidArgumentError("Type is the base of all types and none itself", hint="write I64(), String(), ...")
    if type(instance.nullable) is not bool:
        raise refusal(instance, "nullable", "True or False", instance.nullable)
    if variation is not None and not isinstance(variation, TypeVariation):
        raise refusal(instance, "variation", "a TypeVariation or None", variation)


MAX_LEVELS = 128
"""How many types there may be inside each other, the outermost one counted: types are gone through by recursion.

A schema in a plan is never half as deep: of messages, two for each type, parsers read fewer than 100 inside each other.
"""


_FLATTER = "use a flatter type; no schema in a plan holds half as many"


def too_deep(what: str) -> InvalidArgumentError:
    """Return the error for a type of more than `MAX_LEVELS` types inside each other."""
    return InvalidArgumentError(f"{what}: {MAX_LEVELS} types inside each other are the most", hint=_FLATTER)


@contextmanager
def refuse_deep_types() -> Iterator[None]:
    """Raise `UnsupportedError` for a type with types inside that is too deep for a walk."""
    try:
        yield
    except RecursionError:
        raise UnsupportedError(too_deep("a type is nested too deeply").message, hint=_FLATTER) from None


@attrs.frozen(eq=False, repr=False)
class Type(HashedOnce, PickledByFields):
    """Base of all types. `nullable` says whether NULL is a value of the type; required is the default.

    Specification: ``Type``, https://substrait.io/types/type_system/.

    Example:
        >>> sd.parse_type("i64?") == sd.I64(nullable=True)
        True
    """

    keyword: ClassVar[str]
    """The type's name in the text syntax."""
    short_name: ClassVar[str]
    """The type's name in function signatures (``add:i64_i64``)."""
    levels = 1
    """How many types there are inside each other, itself counted."""

    nullable: bool = attrs.field(default=False, kw_only=True)
    variation: TypeVariation | None = attrs.field(default=None, kw_only=True, validator=_check_type)
    _other: Type | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def with_nullability(self, nullable: bool) -> Self:
        """Set the outermost nullability of this type.

        Args:
            nullable: whether NULL is a value of the type.

        Specification: ``Type.Nullability``.

        Example:
            >>> print(sd.List(sd.I64()).with_nullability(True))
            list<i64>?
        """
        if self.nullable is nullable:
            return self
        if type(nullable) is not bool:
            raise refusal(self, "nullable", "True or False", nullable)
        if self._other is None:
            other = attrs.evolve(self, nullable=nullable)
            object.__setattr__(self, "_other", other)
            object.__setattr__(other, "_other", self)
        return self._other  # type: ignore[return-value]  # the other one is always of this very class

    def as_nullable(self) -> Self:
        """Make this type nullable.

        Specification: ``Type.Nullability``.

        Example:
            >>> print(sd.I64().as_nullable())
            i64?
        """
        return self.with_nullability(True)

    def as_required(self) -> Self:
        """Make this type required.

        Specification: ``Type.Nullability``.

        Example:
            >>> print(sd.I64(nullable=True).as_required())
            i64
        """
        return self.with_nullability(False)

    def matches(self, other: object) -> bool:
        """Test whether both are the same type, the outermost nullability aside (inner nullability counts).

        Args:
            other: the other type.

        Specification: ``Type.Nullability``.

        Example:
            >>> sd.I64().matches(sd.I64(nullable=True))
            True
        """
        if self is other or self._other is other is not None:
            return True
        return self == other or (isinstance(other, Type) and self.as_required() == other.as_required())

    @property
    def parameters(self) -> tuple[int | Type | str, ...]:
        """The parameters between ``<`` and ``>`` in the text syntax."""
        return ()

    def __str__(self) -> str:
        return "".join(self.pieces())

    def pieces(self) -> Iterator[str]:
        """Give the text of the type from left to right: whoever shows only its beginning need not go through all of it.

        Specification: https://substrait.io/types/type_parsing/.

        Example:
            >>> list(sd.Decimal(15, 2).pieces())
            ['decimal', '<', '15', ',', '2', '>']
        """
        yield self.keyword
        if self.variation:
            yield f"[{printable(self.variation.name)}]"
        before = "<"
        for parameter in self.parameters:
            yield before
            if isinstance(parameter, Type):
                yield from parameter.pieces()
                before = ", "
            else:
                yield str(parameter)
                before = ","  # decimal<15,2> but struct<i64, string?>: integers close together, types apart
        if self.parameters:
            yield ">"
        if self.nullable:
            yield "?"


@attrs.frozen(eq=False, repr=False)
class NestedType(Type):
    """Base of the types with types inside."""

    levels: int = attrs.field(default=1, init=False, eq=False, repr=False)

    def _count_levels(self, inside: int) -> None:
        """Count the levels of a type inside of this one. Raises `InvalidArgumentError` if they are too many."""
        if inside >= self.levels:
            if inside >= MAX_LEVELS:
                description = "user-defined type" if self.keyword == "u!" else self.keyword
                raise too_deep(f"a {description} would be nested too deeply, with {inside + 1} types")
            object.__setattr__(self, "levels", inside + 1)


_levels = attrgetter("levels")


class Nullable(Generic[D]):
    """``Nullable[String]`` in a schema class: a column that may be NULL.

    Specification: ``Type.Nullability``.

    Example:
        >>> class People(sd.Schema):
        ...     name: sd.Nullable[sd.String]
        >>> print(sd.read_named("people", People).schema)
        0  name  string?
    """

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[D, Null]: ...
        def __set__(self, instance: Any, value: Expr[D, Null]) -> None: ...

    else:  # a checker knows by itself that there is nothing to call

        def __init__(self, *arguments: object) -> None:
            name = getattr(arguments[0], "__name__", "I64") if arguments else "I64"
            raise InvalidArgumentError(
                "Nullable is written with brackets, in annotations",
                hint=f"write Nullable[{name}]; the type itself is {name}(nullable=True)",
            )


_TYPES = several("a tuple of types such as I64()", Type)


def is_type(instance: NestedType, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator for a type inside of another one."""
    require_type(f"{attribute.name} of {type(instance).__name__}", value)
    instance._count_levels(value.levels)


def are_types(instance: NestedType, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator for a tuple of types inside of another one."""
    try:
        _TYPES(instance, attribute, value)
    except InvalidArgumentError as error:
        error.hint = next(filter(None, map(_type_hint, value)), None) if isinstance(value, tuple) else None
        raise
    instance._count_levels(max(map(_levels, value), default=0))


def require_type(what: str, value: object) -> None:
    """Raise `InvalidArgumentError` for what is no type."""
    if not isinstance(value, Type):
        raise InvalidArgumentError(f"{what} must be a type such as I64()", got=value, hint=_type_hint(value))


def _type_hint(value: object) -> str | None:
    """Return the hint for a value that stands for a type but is none: a text, or a class."""
    if isinstance(value, str):
        return f'write parse_type("{value}"), or the whole type as a text, such as "list<i64>"'
    if get_origin(value) is Nullable:
        return f"write {get_args(value)[0].__name__}(nullable=True)"
    if isinstance(value, type) and issubclass(value, Type):
        has_defaults = all(field.default is not attrs.NOTHING for field in attrs.fields(value))
        return f"write {value.__name__}()" if has_defaults else f"write {value.__name__}(...)"
    return None
