"""Declarations of schemas: classes, dicts, and the schemas of other libraries.

class Orders(Schema):
    o_orderkey: I64
    o_totalprice: Decimal[L[15], L[2]]
    o_comment: Nullable[String]
"""

from __future__ import annotations

import re
import sys
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from typing_extensions import dataclass_transform

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import parse_type as parse
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.catalog.user_types import problem_in
from substrait_dsl.errors import (
    InvalidArgumentError,
    PlanFormatError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    quote,
    require,
    suggestion,
)
from substrait_dsl.fluent.expr import DynExpr, ExprBase, unbound_expr
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.scope import own_column
from substrait_dsl.tracebacks import hide_library_frames


@dataclass_transform(kw_only_default=True)
class Schema:
    """Base of schema classes: annotate the columns with their types, in order.

    A class declares the columns of a table (``read_named("orders", Orders)``) or of a result: an instance names an
    expression for each column, for `Relation.into` (``into(lambda r: Out(key=r.o_orderkey))``). On the class itself
    a column is an expression by name: ``Orders.o_orderkey`` is ``col("o_orderkey")``, typed.

    Raises `SchemaError` for an annotation that is no Substrait type.

    Specification: ``NamedStruct``.

    Example:
        >>> class Customers(sd.Schema):
        ...     key: sd.I64
        ...     name: sd.Nullable[sd.String]
        >>> print(sd.read_named("customers", Customers).schema)
        0  key   i64
        1  name  string?
    """

    __struct__: ClassVar[NamedStruct] = NamedStruct(())
    __columns__: Mapping[str, ExprBase]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A class local to a function sees the names of that function, which its annotations may use.
        frame = sys._getframe(1)
        hints = get_type_hints(cls, localns=dict(frame.f_locals), include_extras=True)
        fields: list[Field] = []
        for name, annotation in hints.items():
            if name in _OF_SCHEMAS or annotation is ClassVar or get_origin(annotation) is ClassVar:
                continue
            _require_public(name, cls)
            if name in vars(cls):
                raise SchemaError(
                    f'{cls.__name__}: column "{name}" has a value, but columns have no defaults', names=[name]
                )
            try:
                type_ = as_type(annotation)
            except InvalidArgumentError as error:
                raise SchemaError(f'{cls.__name__}: column "{name}"', reason=error, names=[name]) from None
            fields.append(Field(name, type_))
        _require_colons(cls)
        for name in (field.name for field in fields):
            setattr(cls, name, named_column(name))
        cls.__struct__ = NamedStruct(tuple(fields))

    def __init__(self, /, **columns: ExprBase) -> None:  # a column may be called ``self``
        known = self.__struct__.names
        for name in columns:
            if name not in known:
                raise UnknownFieldError.of_name(name, known)
        missing = [name for name in known if name not in columns]
        if missing:
            raise SchemaError(f"{type(self).__name__}: no expression for {', '.join(missing)}")
        self.__columns__ = columns

    if (
        not TYPE_CHECKING
    ):  # a class would be a schema of Arrow to a checker, which could not tell the overloads of reads

        @classmethod
        def __arrow_c_schema__(cls) -> object:
            """Export the columns through Arrow's C data interface: ``pyarrow.schema(Orders)``."""
            return RelationSchema(cls.__struct__).__arrow_c_schema__()

    @classmethod
    def _repr_html_(cls) -> str | None:
        """Show the columns in a cell that ends in the class; of classes, IPython calls class methods only."""
        from substrait_dsl.render.html import schema_html

        struct = cls.__struct__
        return schema_html(struct, cls.__name__) if struct.fields else None  # else its text: the base, and a row

    if TYPE_CHECKING:  # a column set on an instance is a column of the result; a row has items, see DynRow
        __sizeof__: ClassVar[None]  # type: ignore[assignment]  # so no dataclass, by which checkers tell overloads apart

        def __setattr__(self, name: str, value: Any) -> None: ...
        def __getitem__(self, column: str | int) -> DynExpr: ...


_OF_SCHEMAS = frozenset(Schema.__annotations__)
"""Annotations that are no columns."""


def _require_colons(schema: type[Schema]) -> None:
    """Refuse ``x = I64``, which declares no column."""
    for name, value in vars(schema).items():
        type_ = get_origin(value) or value
        if isinstance(type_, t.Type) or (isinstance(type_, type) and issubclass(type_, t.Type | t.Nullable)):
            raise SchemaError(
                f'{schema.__name__}: "{name}" is a type, and declares no column',
                names=[name],
                hint=f'write "{name}: " for "{name} = "',
            )


def _require_public(name: str, schema: type[Schema]) -> None:
    """Refuse a column whose name means something else inside a class: ``__x`` is ``_Orders__x`` there."""
    owner = next((each for each in schema.__mro__ if name.startswith(f"_{each.__name__.lstrip('_')}__")), None)
    written = name if owner is None else name.removeprefix(f"_{owner.__name__.lstrip('_')}")
    if owner is not None or name.startswith("__"):
        raise SchemaError(
            f'{schema.__name__}: column "{written}": a name that begins with two underscores '
            "is Python's own in a class",
            names=[written],
            hint="declare the columns by a dict {name: type}",
        )


def named_column(name: str) -> DynExpr:
    """What a column is on a schema class itself: an expression by name."""
    return unbound_expr(partial(own_column, name), name)


class DynRow(Schema):
    """A row, as a lambda gets it and as ``rel.c`` is: each column is an attribute or an item, by name or position.

    To a type checker it stands for a row whose columns are not declared: all of them are `DynExpr`.

    Example:
        >>> orders.c["price"]
        Expr(price: fp64?)
    """

    __slots__ = ("__row__",)  # no column is reached by such a name
    if TYPE_CHECKING:  # declared, lest a checker takes it for a column
        __row__: ClassVar[tuple[NamedStruct, Callable[[int], DynExpr]]]

    def __init__(self, schema: NamedStruct, reference: Callable[[int], DynExpr]) -> None:
        require(schema, NamedStruct, "a row is what a lambda gets, and what rel.c is")
        object.__setattr__(self, "__row__", (schema, reference))

    def __reduce__(self) -> tuple[Any, ...]:
        return DynRow, self.__row__

    def __copy__(self) -> DynRow:
        return self

    def __deepcopy__(self, memo: object) -> DynRow:
        return self

    def __getattr__(self, name: str) -> DynExpr:
        if name.startswith("__") and (name == "__row__" or name not in self.__row__[0].names):
            raise AttributeError(name)  # what Python itself looks for
        try:
            return self[name]
        except SubstraitDslError as error:
            hide_library_frames(error)
            raise

    def __getitem__(self, column: str | int) -> DynExpr:
        schema, reference = self.__row__
        try:
            return reference(schema.position(column))
        except SubstraitDslError as error:
            hide_library_frames(error)
            raise

    if not TYPE_CHECKING:  # see Schema

        def __arrow_c_schema__(self) -> object:
            return RelationSchema(self.__row__[0]).__arrow_c_schema__()

    def __iter__(self) -> typing.NoReturn:
        raise TypeMismatchError("a row is no sequence", hint="name its columns: r.x, r[0]")

    def __dir__(self) -> list[str]:
        return list(self.__row__[0].names)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.__row__[0].names)

    def __repr__(self) -> str:
        return f"Row({self.__row__[0]})"


SchemaLike = type[Schema] | Declared
"""Declarations of columns."""


def as_struct(schema: SchemaLike) -> NamedStruct:
    """Return the columns that a schema declares.

    Raises `SchemaError` for none or for a name declared twice, `InvalidArgumentError` for what declares no columns.
    """
    struct = _as_struct(schema)
    if not struct.fields:
        raise SchemaError("a schema needs at least one column")
    names = struct.names
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        stand = "stands" if len(repeated) == 1 else "stand"
        raise SchemaError(
            f"a schema names each column once; {quote(repeated)} {stand} twice or more", names=[*repeated]
        )
    return struct


def _as_struct(schema: Any) -> NamedStruct:
    match schema:
        case type() if issubclass(schema, Schema):
            return schema.__struct__
        case NamedStruct():
            return schema
        case RelationSchema():
            return schema.struct
        case Mapping() if not hasattr(schema, "__arrow_c_schema__") and not hasattr(schema, "to_arrow"):
            return NamedStruct.of([(name, _column_type(name, type_)) for name, type_ in schema.items()])
        case list() | tuple() if schema and all(isinstance(each, tuple) and len(each) == 2 for each in schema):
            return NamedStruct.of([(name, _column_type(name, type_)) for name, type_ in schema])
    from substrait_dsl.fluent.declared_schemas import columns_of

    return columns_of(schema)


def _column_type(name: Any, type_: Any) -> t.Type:
    """Return the type of a column that is declared by a name and a type."""
    if not isinstance(name, str):
        raise InvalidArgumentError("the name of a column is a str", got=name)
    with error_context(place="column", name=name):
        return as_type(type_)


_SIMPLE: dict[type, t.Type] = {type_: type_() for type_ in t.SIMPLE_TYPES}
"""One of each, so that what it knows by then (its hash, the nullable one) is not computed anew for each schema."""


def as_type(type_: Any) -> t.Type:
    """Return the type that an annotation, a type, or a type's text says: ``Nullable[I64]``, ``I64()``, ``"i64?"``.

    Raises `InvalidArgumentError` for anything else, with what was probably meant.
    """
    if isinstance(type_, t.Type):
        return _as_declared(type_)
    if isinstance(type_, str):
        return _as_declared(parse_type(type_))
    if isinstance(type_, type) and issubclass(type_, t.SIMPLE_TYPES):
        return _SIMPLE.get(type_) or type_()
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return as_type(next((mark for mark in arguments[1:] if isinstance(mark, t.Type)), arguments[0]))
    if origin is t.Nullable:
        return as_type(arguments[0]).as_nullable()
    if origin is t.Struct:
        return _struct_type(arguments[0])
    if origin is t.List:
        return t.List(as_type(arguments[0]))
    if origin is t.Map:
        if Any in arguments:  # ``Map[String]``
            raise _no_type(t.Map)
        return t.Map(as_type(arguments[0]), as_type(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, t.Type):
        return origin(*(_parameter(argument, type_) for argument in arguments))
    raise _no_type(type_)


def _as_declared(type_: t.Type) -> t.Type:
    """Return the type itself. Raises `InvalidArgumentError` if the specification declares it otherwise."""
    problem = problem_in(standard_catalog().extensions, type_)
    if problem is not None:
        raise InvalidArgumentError(problem)
    return type_


def _struct_type(row: Any) -> t.Type:
    if not (isinstance(row, type) and issubclass(row, Schema)):
        raise InvalidArgumentError("Struct[...] takes a Schema class", got=row)
    return row.__struct__.row_type()


def _parameter(argument: Any, type_: Any) -> Any:
    if get_origin(argument) is Literal:
        return get_args(argument)[0]
    name = get_origin(type_).__name__
    written = ", ".join(f"L[{each!r}]" if isinstance(each, int) else "L[...]" for each in get_args(type_))
    raise InvalidArgumentError(f"the parameters of {name}[...] must be literals", hint=f"write {name}[{written}]")


def parse_type(text: str) -> t.Type:
    """Read a type from its text: ``"decimal<15,2>?"``, ``"list<struct<i64, string?>>"``, ``"u!geometry"``.

    Args:
        text: the type. User-defined types are those of the specification's extensions.

    Returns:
        The type. Raises `PlanFormatError` with the place and what was expected.

    Specification: https://substrait.io/types/type_parsing/.

    Example:
        >>> sd.parse_type("decimal<15,2>?").as_required()
        Decimal(nullable=False, variation=None, precision=15, scale=2)
    """
    if not isinstance(text, str):
        raise InvalidArgumentError("expected the text of a type", got=text)
    try:
        return parse(text, urns=standard_catalog().type_urns()) if "u!" in text.lower() else parse(text)
    except PlanFormatError as error:
        from substrait_dsl.fluent.name_hints import type_hint

        error.hint = type_hint(text) or _own_type_hint(text) or error.hint
        raise


_USER_DEFINED = re.compile(r"u!(\w+)", re.IGNORECASE)


def _own_type_hint(text: str) -> str | None:
    """Return the hint for a type that none of the specification's extensions declares."""
    known = standard_catalog().type_urns()
    unknown = next((name for name in _USER_DEFINED.findall(text) if name not in known), None)
    if unknown is None:
        return None
    near = suggestion(unknown, known)
    own = f'a type of an extension of your own is UserDefined(urn, "{unknown}")'
    return f"{near} {own}" if near else own


_FORMS: Mapping[type, str] = {
    t.List: "List(...) or List[...]",
    t.Map: "Map(..., ...) or Map[..., ...]",
    t.Struct: "Struct.of({...}) or Struct[...], of a schema class",
    t.Decimal: "Decimal(...) or Decimal[L[...], L[...]]",
    t.UserDefined: "UserDefined(urn, name); in a class, Annotated[UserDefined, UserDefined(urn, name)]",
    t.Func: "Func((I64(),), I64()); in a class, Annotated[Func, Func((I64(),), I64())]",
}
"""How types are written whose parameters are not integers, or not one."""


def _no_type(type_: Any) -> InvalidArgumentError:
    if isinstance(type_, type) and issubclass(type_, Schema) and type_ is not Schema:
        return InvalidArgumentError(f"{type_.__name__} is no Substrait type", hint=f"write Struct[{type_.__name__}]")
    if isinstance(type_, type) and issubclass(type_, t.Type) and type_ is not t.Type:
        name = type_.__name__
        forms = _FORMS.get(type_) or f"{name}(...) or {name}[L[...]]"
        return InvalidArgumentError(f"{name} needs its parameters", hint=f"write {forms}")
    from substrait_dsl.fluent.name_hints import type_hint

    return InvalidArgumentError(
        f"{getattr(type_, '__name__', repr(type_))} is no Substrait type", hint=type_hint(type_)
    )
