"""Classes of Python that declare columns, built again for the library to read: dataclasses, TypedDict, NamedTuple, ...

mypy forgets what stands beside a type in ``Annotated``, and its caches have no annotations as they were written. So
these are read from the text of the module, and the names in them are looked up in mypy's tables.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NewType, NotRequired, get_origin

import typing_extensions
from mypy.nodes import MypyFile, SymbolNode, TypeAlias, TypeInfo
from mypy.types import Instance, ProperType, TupleType, TypedDictType

from substrait_dsl.fluent.schemas import Schema
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.class_texts import PYDANTIC, annotated_names, column_names, find_class_text, parse_module
from substrait_dsl.mypy_plugin.declarations import is_schema, record_reading
from substrait_dsl.mypy_plugin.mypy_internals import add_dependencies, find_module
from substrait_dsl.mypy_plugin.names import import_named

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

_LIBRARY = "substrait_dsl."
_MODULES = ("builtins", "datetime", "decimal", "uuid", "typing", "typing_extensions", "collections.abc", "enum")
"""Modules of Python whose names annotations may have."""
_DIGITS = ("max_digits", "decimal_places")
"""What pydantic says of a decimal, beside its type."""


def find_class_of(type_: ProperType) -> TypeInfo | None:
    """Return the class of instances of a type, if it declares columns as `columns_of_class` reads them."""
    match type_:
        case TypedDictType(fallback=Instance(type=info)) | TupleType(partial_fallback=Instance(type=info)):
            return info if column_names(info) else None
        case Instance(type=info) if not is_schema(info) and not info.is_generic():
            return info if column_names(info) else None
    return None


def make_class(info: TypeInfo, checker: CheckerPluginInterface) -> type:
    """Return a class that declares the same columns. Raise `UnknownValueError` if some annotation is not known."""
    try:
        return _ClassBuilder(checker).build_class(info)
    except (AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError):
        raise UnknownValueError from None  # an annotation that Python itself refuses


class _ClassBuilder:
    """Builds the classes of one call, each once, so that a class may have itself as the type of a column."""

    def __init__(self, checker: CheckerPluginInterface) -> None:
        self._checker = checker
        self._classes: dict[TypeInfo, type] = {}

    def build_class(self, info: TypeInfo) -> type:
        """Return a dataclass with the columns of a class of the program."""
        if info in self._classes:
            return self._classes[info]
        names = self._order_columns(info)
        record_reading(info, self._checker)
        add_dependencies(self._checker, (f"{info.fullname}.{name}" for name in names))
        self._classes[info] = class_ = type(info.name, (), {"__module__": info.module_name})
        class_.__annotations__ = {name: self._annotation(info, name) for name in names}
        return dataclasses.dataclass(class_)

    def _order_columns(self, info: TypeInfo) -> list[str]:
        """Return the names of the columns in the order of the class, which mypy's caches of some plugins forget."""
        names = column_names(info)
        if not info.has_base(PYDANTIC):
            return names
        order: dict[str, int] = {}
        for owner in reversed(info.mro):
            if owner.has_base(PYDANTIC) and owner.fullname != PYDANTIC:
                text = find_class_text(self._module(owner.module_name), owner)
                for name in [] if text is None else annotated_names(text):
                    order.setdefault(name, len(order))
        return sorted(names, key=order.__getitem__)

    def _annotation(self, info: TypeInfo, name: str) -> Any:
        """Return the annotation of a column, as Python evaluates it."""
        for owner in self._owners(info):
            text = find_class_text(self._module(owner.module_name), owner)
            statement = None if text is None else _find_statement(text, name)
            if statement is not None:
                annotation = self._value(statement.annotation, owner.module_name)
                if info.has_base(PYDANTIC) and isinstance(statement.value, ast.Call):
                    annotation = Annotated[annotation, self._metadata(statement.value, owner.module_name)]
                is_optional = info.typeddict_type is not None and name not in info.typeddict_type.required_keys
                is_said = get_origin(annotation) in (NotRequired, typing_extensions.NotRequired)
                return NotRequired[annotation] if is_optional and not is_said else annotation
        raise UnknownValueError

    def _owners(self, info: TypeInfo) -> Iterator[TypeInfo]:
        """Yield the classes that may declare the columns of a class, itself first."""
        if info.typeddict_type is None:
            yield from info.mro
            return
        yield info  # mypy forgets the bases of a TypedDict
        text = find_class_text(self._module(info.module_name), info)
        for base in [] if text is None else text.bases:
            found = self._resolve_name(base, info.module_name)
            if isinstance(found, TypeInfo) and found.typeddict_type is not None:
                yield from self._owners(found)

    def _module(self, name: str) -> MypyFile:
        module = find_module(self._checker, name)
        if module is None:
            raise UnknownValueError
        return module

    # --- annotations

    def _value(self, node: ast.expr, module: str) -> Any:
        """Return the value of an annotation, or a part of it, that stands in a module."""
        match node:
            case ast.Constant(value=str(text)):
                return self._value(ast.parse(text, mode="eval").body, module)
            case ast.Constant(value=value):
                return value
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._value(left, module) | self._value(right, module)
            case ast.Subscript(value=base, slice=index):
                return self._item(self._value(base, module), index, module)
            case ast.Name() | ast.Attribute():
                return self._named(self._resolve_name(node, module), module)
        raise UnknownValueError

    def _item(self, base: Any, index: ast.expr, module: str) -> Any:
        """Return a type with its parameters."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if base == import_named("typing.Annotated"):
            first, *metadata = parts
            return Annotated[(self._value(first, module), *(self._metadata(each, module) for each in metadata))]
        if base == import_named("typing.Literal"):
            values = tuple(_constant(part) for part in parts)
        else:
            values = tuple(... if _is_ellipsis(part) else self._value(part, module) for part in parts)
        return base[values if isinstance(index, ast.Tuple) else values[0]]

    def _metadata(self, node: ast.expr, module: str) -> Any:
        """Return what stands beside a type: a type of the library, or what a call says by names, such as digits."""
        if isinstance(node, ast.Constant):
            return None
        if not isinstance(node, ast.Call):
            try:
                return self._value(node, module)
            except UnknownValueError:
                return None  # it may be anything but a type of the library, which is known
        function = self._resolve_name(node.func, module)
        if isinstance(function, TypeInfo) and function.fullname.startswith(_LIBRARY):
            named = {str(each.arg): _constant(each.value) for each in node.keywords}
            return import_named(function.fullname)(*(_constant(each) for each in node.args), **named)
        if any(each.arg is None for each in node.keywords):
            raise UnknownValueError
        known = {each.arg: each.value for each in node.keywords if each.arg is not None}
        return SimpleNamespace(**{name: _constant(known[name]) for name in _DIGITS if name in known})

    def _resolve_name(self, node: ast.expr, module: str) -> SymbolNode | None:
        """Return what a name means in a module."""
        match node:
            case ast.Name(id=name):
                tree = self._module(module)
                found = tree.names.get(name) or self._module("builtins").names.get(name)
            case ast.Attribute(value=inner, attr=name):
                owner = self._resolve_name(inner, module)
                found = owner.names.get(name) if isinstance(owner, MypyFile | TypeInfo) else None
            case _:
                return None
        return None if found is None else found.node

    def _named(self, symbol: SymbolNode | None, user: str) -> Any:
        """Return the class, or the form of an annotation, that a name means."""
        if symbol is None:
            raise UnknownValueError
        module, _, name = symbol.fullname.rpartition(".")
        if module.startswith("pydantic."):
            return type(name, (), {"__module__": module})  # the library knows some by their names
        if module in _MODULES or symbol.fullname.startswith(_LIBRARY):
            return import_named(symbol.fullname)
        if isinstance(symbol, TypeAlias):
            return self._aliased(symbol, module, user)
        if not isinstance(symbol, TypeInfo):
            raise UnknownValueError
        return self._class(symbol)

    def _aliased(self, alias: TypeAlias, module: str, user: str) -> Any:
        """Return what an alias of the program stands for, as its module says."""
        name = alias.fullname.rpartition(".")[2]
        values = [_alias_value(statement, name) for statement in parse_module(self._module(module))]
        found = [value for value in values if value is not None]
        if len(found) != 1 or (module != user and any(isinstance(part, ast.Call) for part in ast.walk(found[0]))):
            raise UnknownValueError  # of another module mypy would not notice that metadata change
        return self._value(found[0], module)

    def _class(self, info: TypeInfo) -> Any:
        """Return a class of the program."""
        if is_schema(info):
            return self._schema(info)
        if info.is_enum:
            bases = {"builtins.str": enum.StrEnum, "builtins.int": enum.IntEnum}
            base_class = next((bases[each] for each in bases if info.has_base(each)), enum.Enum)
            return enum.EnumMeta(info.name, (base_class,), enum.EnumMeta.__prepare__(info.name, (base_class,)))
        if info.is_newtype and not (base := info.bases[0]).args:
            return NewType(info.name, self._named(base.type, info.module_name))
        if info.is_generic():
            raise UnknownValueError
        return self.build_class(info) if column_names(info) else type(info.name, (), {"__module__": info.module_name})

    def _schema(self, info: TypeInfo) -> type[Schema]:
        from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations
        from substrait_dsl.mypy_plugin.placeholders import make_schema_class

        struct = Annotations(self._checker).schema_of_class(info)
        if struct is None or any(field.type == UNKNOWN for field in struct):
            raise UnknownValueError
        return make_schema_class(info.module_name, info.name, struct)


def _find_statement(text: ast.ClassDef, name: str) -> ast.AnnAssign | None:
    """Return the last annotation of a name in the body of a class; None if it may stand elsewhere in it."""
    found = None
    for statement in text.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name:
                found = statement
    return found


def _alias_value(statement: ast.stmt, name: str) -> ast.expr | None:
    """Return what a statement says that an alias stands for: ``X = ...``, ``X: TypeAlias = ...``, ``type X = ...``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            return value
        case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name:
            return value
    named = getattr(statement, "name", None)  # of Python 3.12
    value = getattr(statement, "value", None)
    return value if isinstance(named, ast.Name) and named.id == name and isinstance(value, ast.expr) else None


def _constant(node: ast.expr) -> Any:
    """Return a constant. Raise `UnknownValueError` for anything else."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise UnknownValueError from None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis
