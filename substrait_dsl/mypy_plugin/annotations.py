"""Translate types and schemas between mypy and the algebra.

To mypy, the type of a column is the annotation in a schema class (``Nullable[Decimal[Literal[15], Literal[2]]]``); to
the algebra it is a value (``decimal<15,2>?``). A type that mypy does not know is None here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mypy.nodes import TypeInfo
from mypy.types import AnyType, Instance, LiteralType, Type, TypeOfAny, get_proper_type

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.mypy_plugin.declarations import find_annotations, is_schema
from substrait_dsl.mypy_plugin.mypy_internals import find_class
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
    from mypy.plugin import CheckerPluginInterface


class TranslationCache:
    """Translations for the file that mypy is checking; those of structs are not kept."""

    def __init__(self, checker: CheckerPluginInterface | None) -> None:
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
    """Translates between mypy's types and those of the algebra, for one call.

    Structs keep their annotations: a column that is annotated with ``Struct[Address]`` is translated back to that,
    though the algebra knows only the fields of an address.
    """

    def __init__(self, checker: CheckerPluginInterface) -> None:
        self.checker = checker
        if _LAST[0].checker is not checker:
            _LAST[:] = [TranslationCache(checker)]
        self._cache = _LAST[0]
        self._structs: dict[tuple[t.Type, bool, tuple[str, ...]], Type] = {}
        self._structs_met = 0
        """How many structs have been translated. A type with a struct in it is not cached: it belongs to this call."""
        self._open: set[TypeInfo] = set()
        """The schema classes that are being translated, against endless recursion. A class inside itself is unknown."""

    # --- from mypy

    def to_algebra_type(self, annotation: Type) -> t.Type | None:
        """Return the type of an annotation, or None if mypy does not know all of it."""
        type_ = get_proper_type(annotation)
        if not isinstance(type_, Instance):
            return None
        if type_ in self._cache.types:
            return self._cache.types[type_]
        structs_before, translated = self._structs_met, self._translate_type(type_)
        if structs_before == self._structs_met:
            self._cache.types[type_] = translated
        return translated

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
        """Whether the receiver of a method is a relation or an expression that is known, or there is no receiver."""
        receiver = None if type_ is None else get_proper_type(type_)
        if not isinstance(receiver, Instance) or not receiver.args:
            return type_ is None
        first = receiver.args[0]
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
        """Return what identifies a struct: equal ones may have other names, at any depth."""
        return type_, type_.names is None, tuple(t.struct_names(type_))

    def to_schema(self, row: Type) -> NamedStruct | None:
        """Return the columns of a row or of a schema class, or None if mypy does not know them."""
        type_ = get_proper_type(row)
        if not isinstance(type_, Instance):
            return None
        if type_ in self._cache.rows:
            return self._cache.rows[type_]
        if type_.type.fullname != ROW:
            return self.schema_of_class(type_.type) if is_schema(type_.type) else None
        structs_before, translated = self._structs_met, self._translate_row(type_)
        if structs_before == self._structs_met:
            self._cache.rows[type_] = translated
        return translated

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
        """Whether a type is that of a relation or of groups, with columns that mypy does not know."""
        proper = get_proper_type(type_)
        if not isinstance(proper, Instance) or proper.type.fullname not in (RELATION, GROUP_BY):
            return False
        return self.to_schema(proper.args[-1]) is None

    def schema_of_class(self, schema: TypeInfo) -> NamedStruct | None:
        """Return the columns of a schema class, or None if they are not known."""
        if schema in self._cache.schemas:
            return self._cache.schemas[schema]
        annotations = find_annotations(schema, self.checker)
        if not annotations or schema in self._open:
            return None
        self._open.add(schema)
        structs_before = self._structs_met
        struct = NamedStruct(
            tuple(Field(name, self.to_algebra_type(type_) or UNKNOWN) for name, type_ in annotations.items())
        )
        self._open.remove(schema)
        if structs_before == self._structs_met:
            self._cache.schemas[schema] = struct
        return struct

    # --- to mypy

    def to_annotation(self, type_: t.Type) -> Type:
        """Return the annotation of a column of a type."""
        if type_ == UNKNOWN:
            return unknown_type()
        if type_ not in self._cache.annotations:
            structs_before, translated = self._structs_met, self._translate_to_annotation(type_)
            if structs_before != self._structs_met:
                return translated
            self._cache.annotations[type_] = translated
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
                annotated = self._structs.get(self._struct_key(type_))
                fields = zip(type_.field_names, type_.types, strict=True)
                row = annotated or self.make_row(NamedStruct(tuple(Field(name, inner) for name, inner in fields)))
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
        """Return the type of a row with some columns."""
        return self.make_instance(ROW, [self._translate_field(field) for field in struct])

    def _translate_field(self, field: Field) -> Type:
        if field in self._cache.columns:
            return self._cache.columns[field]
        structs_before, annotation = self._structs_met, self.to_annotation(field.type)
        column = self.make_instance(COLUMN, [self._make_literal(field.name, "builtins.str"), annotation])
        if structs_before == self._structs_met:
            self._cache.columns[field] = column
        return column

    def make_typed(self, fullname: str, type_: t.Type) -> Type:
        """Return the type of an expression, a measure or a window function with values of a type."""
        if (fullname, type_) in self._cache.typed:
            return self._cache.typed[fullname, type_]
        structs_before, mark = self._structs_met, full_name(t.Null if type_.nullable else t.Req)
        translated = self.make_instance(fullname, [self.to_annotation(type_.as_required()), self.make_instance(mark)])
        if structs_before == self._structs_met:
            self._cache.typed[fullname, type_] = translated
        return translated

    def make_instance(self, fullname: str, arguments: Sequence[Type] = ()) -> Instance:
        """Return the type of instances of a class, by its full name."""
        if fullname not in self._cache.classes:
            self._cache.classes[fullname] = find_class(self.checker, fullname)
        return Instance(self._cache.classes[fullname], list(arguments))

    def _make_literal(self, value: str | int, fallback: str) -> LiteralType:
        return LiteralType(value, self.make_instance(fallback))


UNKNOWN = t.UserDefined("extension:substrait_dsl:mypy", "unknown_to_mypy", nullable=True)
"""Stands for the type of a column that mypy does not know. Verbs that only pass columns on accept it."""


def _parse_foreign_type(text: str, name: str, urn: str) -> t.Type | None:
    """Return the type that a text names, with one name that an extension declares. None if there are more."""
    try:
        return parse_type(text, urns={name: urn})
    except SubstraitDslError:
        return None  # its parameters are of other extensions


def is_annotation(type_: t.Type | None) -> bool:
    """Whether a type has a class, so that it can be an annotation."""
    return type_ is not None and not isinstance(type_, t.UserDefined) and type_.variation is None


def _make_sized_type(class_: Callable[..., t.Type], sizes: Sequence[object]) -> t.Type | None:
    try:
        return class_(*sizes) if all(isinstance(size, int) for size in sizes) else None
    except SubstraitDslError:
        return None  # there is no type of these sizes


def unknown_type() -> Type:
    """Return mypy's type for what is not known."""
    return AnyType(TypeOfAny.special_form)


def is_erroneous(type_: Type | None) -> bool:
    """Whether a type follows from an error that mypy has reported."""
    proper = get_proper_type(type_)
    if isinstance(proper, AnyType) and proper.source_any is not None:
        proper = proper.source_any
    return isinstance(proper, AnyType) and proper.type_of_any == TypeOfAny.from_error


def literal_value(type_: Type) -> object:
    """Return the value of a literal type, else None."""
    proper = get_proper_type(type_)
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        proper = proper.last_known_value
    return proper.value if isinstance(proper, LiteralType) and not proper.is_enum_literal() else None
