"""Types: ``i64``, ``string?``, ``decimal?<15, 2>``, ``list<i64>``, ``point#8?``.

In a column of a read the fields of a struct have names, as the specification writes them: ``nstruct<x:i64, y:i64?>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from substrait import type_pb2 as pb

from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.names import IDENTIFIER, read_name, write_name
from substrait_dsl.proto.plan_text.scanner import Scanner, to_integer
from substrait_dsl.proto.plan_text.words import FORMER_TYPES, NESTED_TYPES, NUMBER_TYPES, RESERVED, SIMPLE_TYPES

_KEYWORDS = {field: keyword for keyword, field in SIMPLE_TYPES.items()}
_NUMBERS = {field: (keyword, numbers) for keyword, (field, numbers) in NUMBER_TYPES.items()}

_NULLABILITY = {
    pb.Type.NULLABILITY_UNSPECIFIED: "⁉",
    pb.Type.NULLABILITY_NULLABLE: "?",
    pb.Type.NULLABILITY_REQUIRED: "",
}
_MARKS = {mark: nullability for nullability, mark in _NULLABILITY.items() if mark}
_INTEGER = re.compile(r"[0-9]+")
_OF_USERS = re.compile(r"u!")

_MICROSECONDS = 6
_NAMED_STRUCT = "nstruct"
_KNOWN_TYPES = (*SIMPLE_TYPES, *NUMBER_TYPES, *NESTED_TYPES, _NAMED_STRUCT)
_SINGLE_WORDS = (*SIMPLE_TYPES, *FORMER_TYPES)


def write_type(writer: TextWriter, message: pb.Type, names: Iterator[str] | None = None) -> str:
    """Write a type; in a column of a read with the names of the fields of structs, depth first."""
    field = message.WhichOneof("kind")
    if field in ("func", "unbound", "alias", None):
        raise writer.refuse(f"a type of kind {field}", message)
    body: Any = getattr(message, field)
    if field == "user_defined":
        keyword = _write_user_defined(writer, body)
        parameters = [_write_parameter(writer, each) for each in body.type_parameters]
    elif field in _NUMBERS:
        keyword, numbers = _NUMBERS[field]
        parameters = [str(getattr(body, number)) for number in numbers]
        if field == "interval_day" and not body.HasField("precision"):
            parameters = [str(_MICROSECONDS)]
    elif field in NESTED_TYPES:
        keyword = field
        inside = {"list": ["type"], "map": ["key", "value"]}.get(field)
        types = body.types if inside is None else [getattr(body, name) for name in inside]
        if field == "struct" and names is not None:
            keyword = _NAMED_STRUCT
            parameters = [f"{write_next_name(writer, names, each)}:{write_type(writer, each, names)}" for each in types]
        else:
            parameters = [write_type(writer, each, names) for each in types]
    else:
        keyword, parameters = _KEYWORDS[field], []
    mark = _NULLABILITY.get(body.nullability)
    if mark is None:
        raise writer.refuse(f"the nullability {body.nullability}", message)
    written = keyword + mark
    if body.type_variation_reference:
        written += f"[{writer.reference('type_variation', body.type_variation_reference, message)}]"
    return f"{written}<{', '.join(parameters)}>" if parameters or field == "struct" else written


def write_next_name(writer: TextWriter, names: Iterator[str], message: pb.Type) -> str:
    """Write the name of a column of a read, or of a field of a struct in one: the next name of the read."""
    name = next(names, None)
    if name is None:
        raise writer.refuse("a column without a name, or a field of a struct, in a read", message)
    return write_name(name)


def _write_user_defined(writer: TextWriter, body: pb.Type.UserDefined) -> str:
    """Write the name of a user-defined type: behind ``u!`` where it would be taken for a type of the specification."""
    name = writer.reference("type", body.type_reference, body)
    is_reserved = name.startswith(RESERVED) or name.partition("#")[0].lower() in (*_KNOWN_TYPES, *FORMER_TYPES)
    return f"u!{name}" if is_reserved else name


def _write_parameter(writer: TextWriter, message: pb.Type.Parameter) -> str:
    field = message.WhichOneof("parameter")
    if field == "data_type":
        return write_type(writer, message.data_type)
    if field == "integer" and message.integer >= 0:
        return str(message.integer)
    raise writer.refuse(f"a type parameter that is {field}", message)


def read_type(reader: TextReader, scanner: Scanner, message: pb.Type, names: list[str] | None = None) -> None:
    """Read a type; in a column of a read the names of the fields of structs are added to `names`.

    A word in capitals is the type of the specification, but where the plan declares a type under it: the program
    writes that without ``u!``.
    """
    with scanner.nested():
        start = scanner.position
        is_of_user = scanner.match(_OF_USERS) is not None
        found = scanner.match(IDENTIFIER)
        if found is None:
            raise scanner.unexpected("a type")
        keyword = found[0].lower()
        may_be_of_user = keyword == _NAMED_STRUCT or (keyword in _SINGLE_WORDS and keyword != found[0])
        if may_be_of_user and reader.extensions.has("type", found[0]):
            is_of_user = True
        if is_of_user or not (keyword in _KNOWN_TYPES or keyword in FORMER_TYPES):
            scanner.position = found.start()
            _read_user_defined(reader, scanner, message, start)
            return
        body: Any
        if keyword in SIMPLE_TYPES:
            body = getattr(message, SIMPLE_TYPES[keyword])
            _read_marks(reader, scanner, body)
        elif keyword in FORMER_TYPES:
            body = getattr(message, FORMER_TYPES[keyword])
            body.precision = _MICROSECONDS
            _read_marks(reader, scanner, body)
        elif keyword in NUMBER_TYPES:
            field, numbers = NUMBER_TYPES[keyword]
            body = getattr(message, field)
            _read_marks(reader, scanner, body)
            scanner.expect("<")
            for position, number in enumerate(numbers):
                if position:
                    scanner.expect(",")
                setattr(body, number, read_number(scanner, "a number", 31))
            scanner.expect(">")
        else:
            field = "struct" if keyword == _NAMED_STRUCT else keyword
            if field == "struct" and (names is None) == (keyword == _NAMED_STRUCT):
                scanner.position = start
                raise _misplaced_struct(scanner, names)
            _read_nested(reader, scanner, getattr(message, field), field, names)


def _misplaced_struct(scanner: Scanner, names: list[str] | None) -> PlanFormatError:
    """Return the error for a struct whose fields have names where they have none, or the other way round."""
    if names is None:
        return scanner.error("fields of structs have names in columns of reads alone", hint="struct<i64, string?>")
    return scanner.error(
        "in a column of a read, the fields of a struct have names", hint="nstruct<x:i64, y:string?>, and ? before the <"
    )


def _read_nested(reader: TextReader, scanner: Scanner, body: Any, field: str, names: list[str] | None) -> None:
    """Read the types inside a list, a map or a struct."""
    _read_marks(reader, scanner, body)
    scanner.expect("<")
    if field == "list":
        read_type(reader, scanner, body.type, names)
    elif field == "map":
        read_type(reader, scanner, body.key, names)
        scanner.expect(",")
        read_type(reader, scanner, body.value, names)
    else:
        for _ in scanner.items(">"):
            if names is not None:
                names.append(read_name(scanner, "the name of a field"))
                scanner.expect(":")
            read_type(reader, scanner, body.types.add(), names)
    scanner.expect(">")


def _read_marks(reader: TextReader, scanner: Scanner, body: Any) -> None:
    """Read the mark of nullability, and the type variation."""
    body.nullability = pb.Type.NULLABILITY_REQUIRED
    for mark, nullability in _MARKS.items():
        if scanner.take(mark):
            body.nullability = nullability
            break
    if scanner.take("["):
        body.type_variation_reference = reader.extensions.read_reference(scanner, "type_variation")
        scanner.expect("]")


def _read_user_defined(reader: TextReader, scanner: Scanner, message: pb.Type, start: int) -> None:
    """Read a user-defined type; `start` is where it begins."""
    body = message.user_defined
    try:
        body.type_reference = reader.extensions.read_reference(scanner, "type")
    except PlanFormatError as error:
        if not reader.extensions.declared["type"]:
            found = IDENTIFIER.match(scanner.text, scanner.position)
            raise scanner.unknown("type", found[0] if found else "", _KNOWN_TYPES, start) from error
        raise
    _read_marks(reader, scanner, body)
    if not scanner.take("<"):
        return
    for _ in scanner.items(">"):
        parameter = body.type_parameters.add()
        scanner.skip_spaces()
        if _INTEGER.match(scanner.text, scanner.position):
            parameter.integer = read_number(scanner, "a number", 63)
        else:
            read_type(reader, scanner, parameter.data_type)
    scanner.expect(">")


def read_number(scanner: Scanner, what: str, bits: int) -> int:
    """Read an integer without a sign, of at most so many bits."""
    found = scanner.match(_INTEGER)
    if found is None:
        raise scanner.unexpected(what)
    number = to_integer(found[0])
    if number is None or number >= 2**bits:
        scanner.position = found.start()
        raise scanner.error(f"{what} here has at most {bits} bits")
    return number
