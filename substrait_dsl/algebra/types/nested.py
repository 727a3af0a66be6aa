"""The types with types inside, and user-defined types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, get_args

import attrs
from typing_extensions import TypeVar

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.types.base import NestedType, Req, Type, WrittenAs, are_types, is_type, require_type
from substrait_dsl.algebra.unicode import is_unicode, require_unicode
from substrait_dsl.algebra.validators import TEXT, refusal, several
from substrait_dsl.errors import InvalidArgumentError, SchemaError, require
from substrait_dsl.texts import printable

if TYPE_CHECKING:
    from substrait_dsl.fluent.expr import Expr

Item = TypeVar("Item", default=Any)
Key = TypeVar("Key", default=Any)
Value = TypeVar("Value", default=Any)
Row = TypeVar("Row", default=Any)


@attrs.frozen(eq=False, repr=False)
class Struct(NestedType, WrittenAs[tuple[Any, ...] | Mapping[str, Any]], Generic[Row]):
    """A tuple of values. `names`, where known, name the fields; they are not part of the type's identity.

    Specification: ``Type.Struct``.

    Example:
        >>> print(sd.Struct.of({"city": sd.String(), "zip": sd.String(nullable=True)}))
        struct<string, string?>
        >>> sd.lit(("Paris", None), sd.Struct.of({"city": sd.String(), "zip": sd.String(nullable=True)}))
        Expr(('Paris', null:string): struct<string, string?>)
    """

    keyword: ClassVar[str] = "struct"
    short_name: ClassVar[str] = "struct"

    types: tuple[Type, ...] = attrs.field(validator=are_types)
    names: tuple[str, ...] | None = attrs.field(
        default=None, eq=False, validator=attrs.validators.optional(several("a tuple of texts", str))
    )

    def __attrs_post_init__(self) -> None:
        if self.names is not None and len(self.names) != len(self.types):
            raise InvalidArgumentError(f"Struct has {len(self.types)} fields but {len(self.names)} names")
        if self.names and not is_unicode("".join(self.names)):  # one look at all of them: a row may have thousands
            for name in self.names:
                require_unicode(name, "the name of a field")

    @classmethod
    def of(cls, fields: Mapping[str, Type], *, nullable: bool = False) -> Struct[Any]:
        """Make a struct type with named fields: ``Struct.of({"city": String(), "zip": String(nullable=True)})``.

        Args:
            fields: the types by name. What is no type raises `InvalidArgumentError`.
            nullable: whether NULL is a value of the type.

        Specification: ``Type.Struct``.

        Example:
            >>> sd.Struct.of({"city": sd.String()}).field_names
            ('city',)
        """
        require(fields, Mapping, "Struct.of takes a dict of types by name")
        for name, type_ in fields.items():
            require_type(f'field "{name}" of Struct', type_)
        return Struct(tuple(fields.values()), tuple(fields), nullable=nullable)

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields; their positions, where they have none."""
        return self.names or tuple(str(position) for position in range(len(self.types)))

    @property
    def parameters(self) -> tuple[Type, ...]:
        return self.types

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Struct[Row], Req]: ...
        def __set__(self, instance: Any, value: Expr[Struct[Row], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class List(NestedType, WrittenAs[list[Any] | tuple[Any, ...]], Generic[Item]):
    """A list of values of one type.

    Specification: ``Type.List``.

    Example:
        >>> print(sd.List(sd.I64()))
        list<i64>
        >>> sd.lit([1, 2], sd.List(sd.I64()))
        Expr([1, 2]: list<i64>)
    """

    keyword: ClassVar[str] = "list"
    short_name: ClassVar[str] = "list"

    element: Type = attrs.field(validator=is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (self.element,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[List[Item], Req]: ...
        def __set__(self, instance: Any, value: Expr[List[Item], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class Map(NestedType, WrittenAs[Mapping[Any, Any]], Generic[Key, Value]):
    """An unordered list of key-value pairs; keys may repeat but are never NULL.

    Specification: ``Type.Map``.

    Example:
        >>> print(sd.Map(sd.String(), sd.I64()))
        map<string, i64>
        >>> sd.lit({"a": 1}, sd.Map(sd.String(), sd.I64()))
        Expr({'a': 1}: map<string, i64>)
    """

    keyword: ClassVar[str] = "map"
    short_name: ClassVar[str] = "map"

    key: Type = attrs.field(validator=is_type)
    value: Type = attrs.field(validator=is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (self.key, self.value)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Map[Key, Value], Req]: ...
        def __set__(self, instance: Any, value: Expr[Map[Key, Value], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class Func(NestedType):
    """The type of a lambda: parameter types and the type it returns. It has no variations.

    Specification: ``Type.Func``.

    Example:
        >>> print(sd.Func((sd.I64(),), sd.Boolean()))
        func<i64 -> boolean>
    """

    keyword: ClassVar[str] = "func"
    short_name: ClassVar[str] = "func"

    parameter_types: tuple[Type, ...] = attrs.field(validator=are_types)
    return_type: Type = attrs.field(validator=is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (*self.parameter_types, self.return_type)

    def pieces(self) -> Iterator[str]:
        several = len(self.parameter_types) != 1
        yield "func<(" if several else "func<"
        for position, parameter in enumerate(self.parameter_types):
            if position:
                yield ", "
            yield from parameter.pieces()
        yield ") -> " if several else " -> "
        yield from self.return_type.pieces()
        yield ">?" if self.nullable else ">"


@attrs.frozen(eq=False, repr=False)
class EnumParameter(FrozenValue):
    """An enumeration value among the parameters of a user-defined type."""

    value: str = attrs.field(validator=TEXT)

    def __str__(self) -> str:
        return self.value


TypeParameter = Type | bool | int | str | EnumParameter | None

_PARAMETERS = several(
    "a tuple of types, integers, True or False, texts, EnumParameter and None", *get_args(TypeParameter)
)


UNSIGNED_URN = "extension:io.substrait:unsigned_integers"
"""The extension of the specification that declares ``u8``, ``u16``, ``u32`` and ``u64``."""

UNSIGNED_BITS: dict[str, int] = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
"""The names of the unsigned integers, which `UNSIGNED_URN` declares, with the bits that they have."""


def _check_parameters(instance: UserDefined, attribute: attrs.Attribute[Any], value: tuple[TypeParameter, ...]) -> None:
    _PARAMETERS(instance, attribute, value)
    for part in value:
        if isinstance(part, int) and not -(2**63) <= part < 2**63:
            raise refusal(instance, "an integer among type_parameters", "of 64 bits", part)
    instance._count_levels(max((part.levels for part in value if isinstance(part, Type)), default=0))


@attrs.frozen(eq=False, repr=False)
class UserDefined(NestedType, WrittenAs[tuple[Any, ...]]):
    """A type that an extension declares: ``UserDefined("extension:io.substrait:functions_geometry", "geometry")``.

    Specification: ``Type.UserDefined``.

    Example:
        >>> print(sd.parse_type("u!geometry?"))
        u!geometry?
    """

    keyword: ClassVar[str] = "u!"
    short_name: ClassVar[str] = "u!"

    urn: str = attrs.field(validator=TEXT)
    name: str = attrs.field(validator=TEXT)
    type_parameters: tuple[TypeParameter, ...] = attrs.field(default=(), validator=_check_parameters)

    def pieces(self) -> Iterator[str]:
        yield f"u!{printable(self.name)}"
        if self.variation:
            yield f"[{printable(self.variation.name)}]"
        for position, parameter in enumerate(self.type_parameters):
            yield ", " if position else "<"
            if isinstance(parameter, Type):
                yield from parameter.pieces()
            else:
                yield parameter_text(parameter)
        if self.type_parameters:
            yield ">"
        if self.nullable:
            yield "?"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[UserDefined, Req]: ...
        def __set__(self, instance: Any, value: Expr[UserDefined, Req]) -> None: ...


class Unbound(Type):
    """A type that is not known yet: a plan that holds one can be stored but not executed. It has no nullability.

    Specification: ``Type.Unbound``.

    Example:
        >>> print(sd.Unbound())
        unbound
    """

    __slots__ = ()

    keyword: ClassVar[str] = "unbound"
    short_name: ClassVar[str] = "unbound"


def parameter_text(parameter: TypeParameter) -> str:
    """Return a parameter of a user-defined type in the text syntax."""
    match parameter:
        case None:
            return "null"
        case bool():
            return "true" if parameter else "false"
        case str():
            escaped = parameter.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{printable(escaped)}'"
        case _:
            return printable(parameter)


def struct_names(type_: Type) -> Iterator[str]:
    """Yield the names below a type in depth-first order, as ``NamedStruct`` lists them; map keys before values.

    A struct whose fields have no names gets their positions.
    """
    match type_:
        case Struct():
            for name, inner in zip(type_.field_names, type_.types, strict=True):
                yield name
                yield from struct_names(inner)
        case List():
            yield from struct_names(type_.element)
        case Map():
            yield from struct_names(type_.key)
            yield from struct_names(type_.value)
        case _:
            return


MAX_TYPES = 1_000_000
"""How many types a type may have inside of it, each counted where it stands: a plan has them all, with their names."""


def types_inside(type_: Type) -> int:
    """Return how many types there are in a type, itself too.

    In a time that grows with the different ones among them.
    """
    known: dict[int, int] = {}
    stack = [type_]
    while stack:
        inner = [each for each in stack[-1].parameters if isinstance(each, Type)]
        if waiting := [each for each in inner if id(each) not in known]:
            stack += waiting
            continue
        known[id(stack.pop())] = 1 + sum(known[id(each)] for each in inner)
    return known[id(type_)]


def require_size(type_: Type, what: str) -> Type:
    """Return the same type. Raises `SchemaError` for one of more than `MAX_TYPES` types."""
    nested = [each for each in type_.parameters if isinstance(each, Struct | List | Map | Func)]
    # With one such type inside of it a type grows by few, and is not looked at whole.
    if len(nested) > 1 and (count := types_inside(type_)) > MAX_TYPES:
        raise SchemaError(
            f"{what} would have {count} types inside each other, and a plan writes down all of them; "
            f"{MAX_TYPES} is the most",
            hint="structs and maps that have the same one several times double with each step: have it once",
        )
    return type_


def nullable_as_either(one: Type, other: Type) -> Type | None:
    """Return the type that is nullable, inside too, wherever one of two is; None if they differ in more than that.

    The values of both cast to it, whatever is NULL in them.
    """
    nullable = one.nullable or other.nullable
    if one.matches(other):
        return one.with_nullability(nullable)
    if one.variation != other.variation:
        return None
    match one, other:
        case Struct(types=one_types), Struct(types=other_types) if len(one_types) == len(other_types):
            fields = tuple(filter(None, map(nullable_as_either, one_types, other_types)))
            return attrs.evolve(one, types=fields, nullable=nullable) if len(fields) == len(one_types) else None
        case List(element=one_element), List(element=other_element):
            element = nullable_as_either(one_element, other_element)
            return None if element is None else attrs.evolve(one, element=element, nullable=nullable)
        case Map(), Map():
            key, value = nullable_as_either(one.key, other.key), nullable_as_either(one.value, other.value)
            return attrs.evolve(one, key=key, value=value, nullable=nullable) if key and value else None
        case _:
            return None


def types_in(type_: Type) -> Iterator[Type]:
    """Yield the type and all types inside it, also those that a user-defined type has as parameters."""
    stack = [type_]
    while stack:
        current = stack.pop()
        yield current
        match current:
            case Struct(types):
                stack.extend(types)
            case List(element):
                stack.append(element)
            case Map(key, value):
                stack.extend((key, value))
            case Func(parameters, result):
                stack.extend((*parameters, result))
            case UserDefined():
                stack.extend(part for part in current.type_parameters if isinstance(part, Type))
            case _:
                pass


def may_have_field_names(type_: Type) -> bool:
    """Return whether types that equal this one may differ, for the names of fields are no part of a type's identity.

    What is found out about such a type is not to be remembered for those that equal it. The answer is quick for types
    of any size; it is "yes" also for maps with keys of several parts.
    """
    match type_:
        case Struct() | Func() | UserDefined(type_parameters=(_, *_)) | Map(key=List() | Map() | Struct()):
            return True
        case List(element=inner) | Map(value=inner):
            return may_have_field_names(inner)
        case _:
            return False
