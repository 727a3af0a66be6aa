"""Types and schemas, as mypy and as the algebra know them.

A column's type is to mypy what a schema class is annotated with (``Nullable[Decimal[Literal[15], Literal[2]]]``), to
the algebra a value (``decimal<15,2>?``). What mypy does not know has no value: it is None here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mypy.lookup import lookup_fully_qualified
from mypy.nodes import TypeInfo
from mypy.types import AnyType, Instance, LiteralType, Type, TypeOfAny, get_proper_type

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.mypy_plugin.declarations import find_annotations, is_schema
from substrait_dsl.mypy_plugin.names import (
    COLUMN,
    FOREIGN,
    GROUP_BY,
    LIST,
    MAP,
    NULLABLE,
    RELATION,
    ROW,
    SIMPLE,
    SIZED,
    STRUCT,
    full_name,
)

if TYPE_CHECKING:
    from mypy.checker import TypeChecker


class TranslationCache:
    """What has been translated already for the file that mypy is checking, but for structs."""

    def __init__(self, checker: TypeChecker | None) -> None:
        self.checker = checker
        self.types: dict[Instance, t.Type | None] = {}
        self.rows: dict[Instance, NamedStruct | None] = {}
        self.schemas: dict[TypeInfo, NamedStruct] = {}
        self.annotations: dict[t.Type, Type] = {}
        self.columns: dict[Field, Type] = {}
        self.typed: dict[tuple[str, t.Type], Type] = {}
        self.classes: dict[str, TypeInfo] = {}


_LAST = [TranslationCache(None)]


class Annotations:
    """Translates between mypy's types and those of the algebra, for one call that is checked.

    Structs come back as they went in: a column that is annotated with ``Struct[Address]`` keeps that annotation, though
    the algebra knows only the fields of an address.
    """

    def __init__(self, checker: TypeChecker) -> None:
        self.checker = checker
        if _LAST[0].checker is not checker:
            _LAST[:] = [TranslationCache(checker)]
        self._cache = _LAST[0]
        self._structs: dict[tuple[t.Type, bool, tuple[str, ...]], Type] = {}
        self._structs_met = 0
        """How many structs have been translated. What has one in it is not kept: it belongs to this call."""
        self._open: set[TypeInfo] = set()
        """The schema classes whose columns are being looked at; one inside itself has none that anybody knows."""

    # --- from mypy

    def to_algebra_type(self, annotation: Type) -> t.Type | None:
        """The type that an annotation says, or None if mypy does not know all of it."""
        type_ = get_proper_type(annotation)
        if not isinstance(type_, Instance):
            return None
        if type_ in self._cache.types:
            return self._cache.types[type_]
        met, found = self._structs_met, self._translate_type(type_)
        if met == self._structs_met:
            self._cache.types[type_] = found
        return found

    def _translate_type(self, type_: Instance) -> t.Type | None:
        match type_.type.fullname, type_.args:
            case fullname, _ if fullname in SIMPLE:
                return SIMPLE[fullname]()
            case str(fullname), [inner] if fullname == NULLABLE:
                required = self.to_algebra_type(inner)
                return None if required is None else required.as_nullable()
            case str(fullname), [row] if fullname == STRUCT:
                return self._translate_struct(row)
            case str(fullname), [element] if fullname == LIST:
                item = self.to_algebra_type(element)
                return None if item is None else t.List(item)
            case str(fullname), [key, value] if fullname == MAP:
                key_type, value_type = self.to_algebra_type(key), self.to_algebra_type(value)
                return None if key_type is None or value_type is None else t.Map(key_type, value_type)
            case fullname, parameters if fullname == FOREIGN:
                return _parse_foreign_type(*(str(literal_value(parameter)) for parameter in parameters))
            case fullname, parameters if fullname in SIZED:
                return _make_sized_type(SIZED[fullname], [literal_value(parameter) for parameter in parameters])
        return None

    def is_known(self, type_: Type | None) -> bool:
        """Whether all is known of a relation or an expression that a method is called on; or there is no such thing."""
        on = None if type_ is None else get_proper_type(type_)
        if not isinstance(on, Instance) or not on.args:
            return type_ is None
        first = on.args[0]
        return self.to_schema(first) is not None or self.to_algebra_type(first) is not None

    def _translate_struct(self, row: Type) -> t.Type | None:
        self._structs_met += 1
        struct = self.to_schema(row)
        if struct is None or any(field.type == UNKNOWN for field in struct):
            return None
        type_ = struct.row_type()
        names = type_.names
        if names is not None and all(name.isdigit() for name in names):
            type_ = t.Struct(type_.types)
        self._structs[self._struct_key(type_)] = row
        return type_

    def _struct_key(self, type_: t.Struct) -> tuple[t.Type, bool, tuple[str, ...]]:
        """What tells structs apart: equal ones may have other names, at any depth."""
        return type_, type_.names is None, tuple(t.struct_names(type_))

    def to_schema(self, row: Type) -> NamedStruct | None:
        """The columns of a row or of a schema class, or None if mypy does not know them."""
        type_ = get_proper_type(row)
        if not isinstance(type_, Instance):
            return None
        if type_ in self._cache.rows:
            return self._cache.rows[type_]
        if type_.type.fullname != ROW:
            return self.schema_of_class(type_.type) if is_schema(type_.type) else None
        met, found = self._structs_met, self._translate_row(type_)
        if met == self._structs_met:
            self._cache.rows[type_] = found
        return found

    def _translate_row(self, row: Instance) -> NamedStruct | None:
        fields = []
        for argument in row.args:
            column = get_proper_type(argument)
            if not isinstance(column, Instance) or column.type.fullname != COLUMN:
                return None
            name = literal_value(column.args[0])
            if not isinstance(name, str):
                return None
            fields.append(Field(name, self.to_algebra_type(column.args[1]) or UNKNOWN))
        return NamedStruct(tuple(fields))

    def is_unknown_relation(self, type_: Type | None) -> bool:
        """Whether a type is that of a relation, or of its groups, whose columns mypy does not know."""
        proper = get_proper_type(type_)
        if not isinstance(proper, Instance) or proper.type.fullname not in (RELATION, GROUP_BY):
            return False
        return self.to_schema(proper.args[-1]) is None

    def schema_of_class(self, schema: TypeInfo) -> NamedStruct | None:
        """The columns of a schema class."""
        if schema in self._cache.schemas:
            return self._cache.schemas[schema]
        annotations = find_annotations(schema, self.checker)
        if not annotations or schema in self._open:
            return None
        self._open.add(schema)
        met = self._structs_met
        struct = NamedStruct(
            tuple(Field(name, self.to_algebra_type(type_) or UNKNOWN) for name, type_ in annotations.items())
        )
        self._open.remove(schema)
        if met == self._structs_met:
            self._cache.schemas[schema] = struct
        return struct

    # --- to mypy

    def to_annotation(self, type_: t.Type) -> Type:
        """What a schema class would be annotated with for a column of a type."""
        if type_ == UNKNOWN:
            return unknown_type()
        if type_ not in self._cache.annotations:
            met, found = self._structs_met, self._translate_to_annotation(type_)
            if met != self._structs_met:
                return found
            self._cache.annotations[type_] = found
        return self._cache.annotations[type_]

    def _translate_to_annotation(self, type_: t.Type) -> Type:
        if type_.nullable:
            return self.make_instance(NULLABLE, [self.to_annotation(type_.as_required())])
        declared = type_ if isinstance(type_, t.UserDefined) else type_.variation
        if declared is not None:
            parts = str(type_), declared.name, declared.urn
            if _parse_foreign_type(*parts) != type_:
                return unknown_type()
            return self.make_instance(FOREIGN, [self._make_literal(part, "builtins.str") for part in parts])
        match type_:
            case t.Struct():
                self._structs_met += 1
                known = self._structs.get(self._struct_key(type_))
                fields = zip(type_.field_names, type_.types, strict=True)
                row = known or self.make_row(NamedStruct(tuple(Field(name, inner) for name, inner in fields)))
                return self.make_instance(STRUCT, [row])
            case t.List(element=element):
                return self.make_instance(LIST, [self.to_annotation(element)])
            case t.Map(key=key, value=value):
                return self.make_instance(MAP, [self.to_annotation(key), self.to_annotation(value)])
            case t.Func():
                return self.make_instance(full_name(type(type_)))
            case _:
                sizes = [size for size in type_.parameters if isinstance(size, int)]
                return self.make_instance(
                    full_name(type(type_)), [self._make_literal(size, "builtins.int") for size in sizes]
                )

    def make_row(self, struct: NamedStruct) -> Instance:
        """The type of a row with these columns."""
        return self.make_instance(ROW, [self._translate_field(field) for field in struct])

    def _translate_field(self, field: Field) -> Type:
        if field in self._cache.columns:
            return self._cache.columns[field]
        met, annotation = self._structs_met, self.to_annotation(field.type)
        column = self.make_instance(COLUMN, [self._make_literal(field.name, "builtins.str"), annotation])
        if met == self._structs_met:
            self._cache.columns[field] = column
        return column

    def make_typed(self, fullname: str, type_: t.Type) -> Type:
        """An expression, a measure or a window function of a type."""
        if (fullname, type_) in self._cache.typed:
            return self._cache.typed[fullname, type_]
        met, mark = self._structs_met, full_name(t.Null if type_.nullable else t.Req)
        found = self.make_instance(fullname, [self.to_annotation(type_.as_required()), self.make_instance(mark)])
        if met == self._structs_met:
            self._cache.typed[fullname, type_] = found
        return found

    def make_instance(self, fullname: str, arguments: Sequence[Type] = ()) -> Instance:
        """An instance of a class, by its full name."""
        if fullname not in self._cache.classes:
            symbol = lookup_fully_qualified(fullname, self.checker.modules, raise_on_missing=True)
            assert symbol is not None
            assert isinstance(symbol.node, TypeInfo)
            self._cache.classes[fullname] = symbol.node
        return Instance(self._cache.classes[fullname], list(arguments))

    def _make_literal(self, value: str | int, fallback: str) -> LiteralType:
        return LiteralType(value, self.make_instance(fallback))


UNKNOWN = t.UserDefined("extension:substrait_dsl:mypy", "unknown_to_mypy", nullable=True)
"""Stands for the type of a column that mypy does not know; rules that only pass columns on do not mind."""


def _parse_foreign_type(text: str, name: str, urn: str) -> t.Type | None:
    """The type that a text says, of which an extension declares a name."""
    try:
        return parse_type(text, urns={name: urn})
    except SubstraitDslError:
        return None  # its parameters are of other extensions


def is_annotation(type_: t.Type | None) -> bool:
    """Whether a type is one of those that mypy has a class for."""
    return type_ is not None and not isinstance(type_, t.UserDefined) and type_.variation is None


def _make_sized_type(made: Callable[..., t.Type], sizes: Sequence[object]) -> t.Type | None:
    try:
        return made(*sizes) if all(isinstance(size, int) for size in sizes) else None
    except SubstraitDslError:
        return None  # no type has these sizes


def unknown_type() -> Type:
    """What mypy calls a type that it does not know."""
    return AnyType(TypeOfAny.special_form)


def is_erroneous(type_: Type | None) -> bool:
    """Whether a type is that of what mypy has objected to, or follows from it."""
    proper = get_proper_type(type_)
    if isinstance(proper, AnyType) and proper.source_any is not None:
        proper = proper.source_any
    return isinstance(proper, AnyType) and proper.type_of_any == TypeOfAny.from_error


def literal_value(type_: Type) -> object:
    """The value of a literal type, else None."""
    proper = get_proper_type(type_)
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        proper = proper.last_known_value
    return proper.value if isinstance(proper, LiteralType) and not proper.is_enum_literal() else None
