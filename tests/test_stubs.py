"""The stubs of the protobuf classes: they are those of the installed package, and they say what its classes have."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor

ROOT = Path(__file__).parent.parent / "stubs"
SCRIPT = runpy.run_path(str(ROOT / "generate.py"))
TEXTS: Mapping[Path, str] = SCRIPT["stubs"]()
MODULES = sorted(".".join(("substrait", *file.with_suffix("").parts)) for file in TEXTS if file.suffix == ".pyi")

SCALARS = {  # by FieldDescriptor.cpp_type
    1: "builtins.int",
    2: "builtins.int",
    3: "builtins.int",
    4: "builtins.int",
    5: "builtins.float",
    6: "builtins.float",
    7: "builtins.bool",
    9: "builtins.str",
}
BYTES = 12  # FieldDescriptor.type; its cpp_type is that of strings

Members = Mapping[str, str]
"""The names in a class with their types; the value of a field of an enumeration has the type of the enumeration."""


def test_the_stubs_are_those_of_the_installed_package() -> None:
    assert SCRIPT["written"]() == set(TEXTS), "run: python stubs/generate.py"
    for place, text in TEXTS.items():
        assert (ROOT / "substrait" / place).read_text(encoding="utf-8") == text, "run: python stubs/generate.py"


@pytest.mark.parametrize("module", ["plan", "extended_expression", "type", "algebra", "extensions.extensions"])
def test_the_modules_of_our_signatures_have_stubs(module: str) -> None:
    assert f"substrait.{module}_pb2" in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_message_field_and_enum_value_has_its_type(module: str) -> None:
    classes = dict(classes_of(module))
    file: FileDescriptor = import_module(module).DESCRIPTOR
    for message in messages(file.message_types_by_name.values()):
        stub = classes[full_name(message)]
        for field in message.fields:
            if not iskeyword(field.name):  # such a field is no attribute: getattr reads it
                assert stub.get(field.name) == type_of(field), f"{message.full_name}.{field.name}"
            assert f"{field.name.upper()}_FIELD_NUMBER" in stub, f"{message.full_name}.{field.name}"
        for enum in message.enum_types:
            check_values(enum, stub, classes)
    for enum in file.enum_types_by_name.values():
        check_values(enum, classes[module], classes)


def check_values(enum: EnumDescriptor, around: Members, classes: Mapping[str, Members]) -> None:
    """An enumeration's values are members of what it stands in, and of its own class by way of its metaclass."""
    name = full_name(enum)
    base = f"{name.removesuffix(enum.name)}_{enum.name}"
    for value in enum.values:
        assert around.get(value.name) == f"{name}.ValueType", f"{enum.full_name}.{value.name}"
        assert classes[f"{base}EnumTypeWrapper"].get(value.name) == f"{base}.ValueType"


def messages(found: Iterable[Descriptor]) -> Iterator[Descriptor]:
    """Messages with those inside them."""
    for message in found:
        yield message
        yield from messages(message.nested_types)


def full_name(descriptor: Descriptor | EnumDescriptor) -> str:
    """What a class is called, with its module."""
    module = descriptor.file.name.removesuffix(".proto").replace("/", ".") + "_pb2"
    name = descriptor.full_name.removeprefix(f"{descriptor.file.package}.")
    return f"{module}.{name}"


def type_of(field: FieldDescriptor) -> str:
    """The type that an attribute has."""
    containers = "google.protobuf.internal.containers"
    if field.message_type is not None:
        name = full_name(field.message_type)
        return f"{containers}.RepeatedCompositeFieldContainer[{name}]" if field.is_repeated else name
    if field.enum_type is not None:
        name = f"{full_name(field.enum_type)}.ValueType"
    else:
        name = "builtins.bytes" if field.type == BYTES else SCALARS[field.cpp_type]
    return f"{containers}.RepeatedScalarFieldContainer[{name}]" if field.is_repeated else name


def classes_of(module: str) -> Iterator[tuple[str, Members]]:
    """The classes in the stub of a module, and the module itself, by their names."""
    tree = ast.parse(TEXTS[Path(*module.split(".")[1:]).with_suffix(".pyi")])
    own = {statement.name for statement in tree.body if isinstance(statement, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (name := node.id.removeprefix("Global___")) in own:
            node.id = f"{module}.{name}"

    def visit(name: str, body: list[ast.stmt]) -> Iterator[tuple[str, Members]]:
        members: dict[str, str] = {}
        for statement in body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=member), annotation=kind):
                    members[member] = ast.unparse(kind)
                case ast.FunctionDef(
                    name=member, decorator_list=[ast.Name() | ast.Attribute()], returns=ast.expr() as kind
                ):
                    members[member] = ast.unparse(kind)
                case ast.ClassDef(name=inner, body=content):
                    yield from visit(f"{name}.{inner}", content)
        yield name, members

    yield from visit(module, tree.body)
