"""The source of schema classes: the columns of a relation as Python declares them.

`reveal_schema` shows one class to paste, and ``substrait-dsl typing`` writes modules of them. A struct whose fields can
be attributes becomes a class of its own; any other type that has no annotation is written as a value::

    point: Annotated[sd.Struct[sd.DynRow], sd.Struct((sd.FP64(), sd.FP64()))]
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnsupportedError, quote, require
from substrait_dsl.texts import constant

WIDTH = 88
"""The longest line: that of the formatters' defaults."""

_INDENT = "    "


class SchemaSource:
    """Schema classes that stand in one module, as source.

    Args:
        schemas: the columns by the name of the class.
        documented: whether each class has a docstring, as linters want it in files.

    Raises `InvalidArgumentError` for a name that is none of a class, `SchemaError` for columns that no class has, and
    `UnsupportedError` for a type that programs cannot write.
    """

    def __init__(self, schemas: Mapping[str, NamedStruct], *, documented: bool = False) -> None:
        self._documented = documented
        for name, struct in schemas.items():
            _require_class_name(name)
            _require_columns(name, struct)
        self._taken = {*schemas, *(name for struct in schemas.values() for name in _names_in(struct))}
        self._library = self._free("sd")
        self._imported: dict[str, str] = {}
        """The names of ``typing`` that are used, with those that they have here."""
        self.classes: tuple[str, ...] = tuple(
            text
            for name, struct in schemas.items()
            for text in self._classes_of(name, struct, "The columns of a pipeline.")
        )
        """The source of each class; one that another uses stands before it."""

    @property
    def typing_import(self) -> str:
        """The line that imports what the classes use of ``typing``, if they use any of it."""
        names = [name if name == used else f"{name} as {used}" for name, used in sorted(self._imported.items())]
        return f"from typing import {', '.join(names)}\n" if names else ""

    @property
    def library_import(self) -> str:
        """The line that imports this library."""
        return f"import substrait_dsl as {self._library}\n"

    @property
    def is_wrapped(self) -> bool:
        """Whether an annotation takes several lines, which a formatter of longer lines would join."""
        return any(line.startswith(2 * _INDENT) for text in self.classes for line in text.splitlines())

    def _free(self, name: str) -> str:
        """Return a name that is none of a column or a class: in a class, its columns would hide it."""
        while name in self._taken:
            name = f"_{name}"
        return name

    def _typing(self, name: str) -> str:
        return self._imported.setdefault(name, self._free(name))

    def _classes_of(self, name: str, struct: NamedStruct, description: str) -> Iterator[str]:
        nested: list[str] = []
        lines = [f"class {name}({self._library}.Schema):"]
        lines += [f'{_INDENT}"""{description}"""', ""] if self._documented else []
        for field in struct:
            annotation = self._annotation(field.type, name + _camel_case(field.name), nested)
            lines += _wrap_annotation(f"{_INDENT}{field.name}: ", annotation, _INDENT)
        yield from nested
        yield "\n".join([*lines, ""])

    def _annotation(self, type_: t.Type, owner: str, nested: list[str]) -> str:
        """What a column of a type is annotated with; `owner` names the class of a struct in it."""
        if type_.nullable:
            return f"{self._library}.Nullable[{self._annotation(type_.as_required(), owner, nested)}]"
        name = f"{self._library}.{type(type_).__name__}"
        if type_.variation is not None or isinstance(type_, t.UserDefined | t.Func):
            return self._as_value(name, type_)
        match type_:
            case t.Struct(names=names) if not _are_attributes(names, owner):
                return self._as_value(f"{name}[{self._library}.DynRow]", type_)
            case t.Struct():
                inner = owner
                while inner in self._taken:
                    inner = f"{inner}_"
                self._taken.add(inner)
                fields = zip(type_.field_names, type_.types, strict=True)
                nested += self._classes_of(inner, NamedStruct.of(dict(fields)), "The fields of a struct.")
                return f"{name}[{inner}]"
            case t.List(element=element):
                return f"{name}[{self._annotation(element, owner, nested)}]"
            case t.Map(key=key, value=value):
                inside = self._annotation(key, f"{owner}Key", nested), self._annotation(value, owner, nested)
                return f"{name}[{', '.join(inside)}]"
        sizes = [f"{self._typing('Literal')}[{size}]" for size in type_.parameters]
        return f"{name}[{', '.join(sizes)}]" if sizes else name

    def _as_value(self, name: str, type_: t.Type) -> str:
        """Return a type as metadata, with the names of its fields.

        Python makes one annotation of equal ones, names aside.
        """
        names = ", ".join(_names_inside(type_))
        parts = [name, self._value(type_), *([_literal(names)] if names else [])]
        return f"{self._typing('Annotated')}[{', '.join(parts)}]"

    def _value(self, value: object) -> str:
        """What makes a type, or a part of one."""
        if isinstance(value, tuple):
            parts = [self._value(each) for each in value]
            return f"({', '.join(parts)},)" if len(parts) == 1 else f"({', '.join(parts)})"
        if value is None or isinstance(value, bool | int | str):
            return _literal(value)
        if not isinstance(value, t.Type | t.TypeVariation):
            raise UnsupportedError(f"a program cannot write the parameter {value} of a type")
        arguments = [
            f"{field.name}={self._value(inside)}" if field.kw_only else self._value(inside)
            for field in attrs.fields(type(value))
            if field.init and (inside := getattr(value, field.name)) != field.default
        ]
        return f"{self._library}.{type(value).__name__}({', '.join(sorted(arguments, key=_is_named))})"


def schema_class_source(name: str, struct: NamedStruct) -> str:
    """The source of one schema class to paste, after that of the structs in it and the names of ``typing`` they use."""
    _require_class_name(name)  # before it is a key
    source = SchemaSource({name: struct})
    return "\n\n".join(filter(None, [source.typing_import, *source.classes]))


def _require_class_name(name: object) -> None:
    require(name, str, "the name of a schema class is a str")
    if not is_attribute(str(name)):
        raise InvalidArgumentError(
            "the name of a schema class is an identifier of Python, and does not begin with two underscores", got=name
        )


def _require_columns(name: str, struct: NamedStruct) -> None:
    """Raise `SchemaError` for columns that no schema class of a name has."""
    names = struct.names
    if not names:
        raise SchemaError(f"{name}: a schema class needs at least one column")
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated:
        raise SchemaError(
            f"{name}: a schema class has each column once; {quote(repeated)} stand{'s' * (len(repeated) == 1)} twice",
            names=repeated,
            hint="rename or drop one of them first",
        )
    wrong = [each for each in names if not _is_column(each, name)]
    if wrong:
        raise SchemaError(
            f"{name}: {quote(wrong)} can be no attribute of a class",
            names=wrong,
            hint=f"rename it first: rename({{{constant(wrong[0])}: ...}}); "
            "or declare the columns by a dict {name: type}",
        )


def is_attribute(name: str) -> bool:
    """Return whether Python keeps a name as it is written in a class, and it is no private one."""
    is_unchanged = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return is_unchanged and not keyword.iskeyword(name) and not name.startswith("__")


def _is_column(name: str, owner: str) -> bool:
    return is_attribute(name) and not name.startswith(f"_{owner.lstrip('_')}__")


def _are_attributes(names: Sequence[str] | None, owner: str) -> bool:
    """Return whether the fields of a struct can be the columns of a class."""
    if not names or len({*names}) < len(names):
        return False
    return all(_is_column(name, owner) for name in names)


def _names_in(struct: NamedStruct) -> Iterator[str]:
    for field in struct:
        yield field.name
        yield from t.struct_names(field.type)


def _names_inside(value: object) -> Iterator[str]:
    """Yield the names of fields in a type, and in those that it is made of."""
    if isinstance(value, t.Struct):
        yield from value.names or ()
    own = value.type_parameters if isinstance(value, t.UserDefined) else getattr(value, "parameters", ())
    for each in value if isinstance(value, tuple) else own:
        yield from _names_inside(each)


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _is_named(argument: str) -> bool:
    return re.match(r"\w+=", argument) is not None


def _literal(value: bool | int | str | None) -> str:
    """Return a constant in double quotes, as formatters want it."""
    return constant(value) if isinstance(value, str) else repr(value)


def _wrap_annotation(start: str, text: str, indent: str) -> list[str]:
    """Return the lines of an annotation: one, or what stands in its outermost brackets below each other."""
    if len(start) + len(text) <= WIDTH or text[-1] not in "])":
        return [start + text]
    before, items = _split_brackets(text)
    lines = [start + before]
    for item in items:
        inside = _wrap_annotation(indent + _INDENT, item, indent + _INDENT)
        inside[-1] += "," if len(items) > 1 else ""
        lines += inside
    return [*lines, indent + text[-1]]


def _split_brackets(text: str) -> tuple[str, list[str]]:
    """What stands up to the first bracket, and the parts inside of it."""
    depth, first, quote, items, start = 0, 0, "", [], 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[place - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "[(":
            depth += 1
            if depth == 1:
                first, start = place + 1, place + 1
        elif character in "])":
            depth -= 1
        elif character == "," and depth == 1:
            items.append(text[start:place].strip())
            start = place + 1
    return text[:first], [item for item in [*items, text[start:-1].strip()] if item]
