"""Expressions: ``$0``, literals, ``add($0, 1):i64``, ``($0)::?i16``, ``if_then($0 -> 1, _ -> 2)``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from substrait import algebra_pb2 as pb

from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.further_words import (
    further_word,
    read_further_word,
    write_in_list,
    write_outer_column,
    write_subquery,
)
from substrait_dsl.proto.plan_text.literals import read_literal, write_literal
from substrait_dsl.proto.plan_text.names import IDENTIFIER, read_name, write_name
from substrait_dsl.proto.plan_text.scanner import Scanner
from substrait_dsl.proto.plan_text.types import read_number, read_type, write_type
from substrait_dsl.proto.plan_text.words import FAILURE_BEHAVIORS, word_for

_COLUMN = re.compile(r"\$")
_IF_THEN = re.compile(r"if_then\(")
_OPTION = re.compile(r"([A-Za-z0-9_]+)⇒\[")
_PREFERENCE = re.compile(r"[A-Za-z0-9_]+")
_CALL = re.compile(r"(?=[A-Za-z])")


def write_expression(writer: TextWriter, message: pb.Expression) -> str:
    """Write an expression."""
    match message.WhichOneof("rex_type"):
        case "literal":
            return write_literal(writer, message.literal)
        case "selection":
            position = _position(writer, message.selection)
            if message.selection.WhichOneof("root_type") == "outer_reference":
                return write_outer_column(writer, message.selection, position)
            return write_column(position)
        case "singular_or_list":
            return write_in_list(writer, message.singular_or_list)
        case "subquery":
            return write_subquery(writer, message.subquery)
        case "scalar_function":
            return write_call(writer, message.scalar_function)
        case "cast":
            return _write_cast(writer, message.cast)
        case "if_then":
            return _write_if_then(writer, message.if_then)
        case other:
            raise writer.refuse(f"expressions of kind {other}", message)


def write_column(position: int) -> str:
    """Write a reference to a column."""
    return f"${position}"


def _position(writer: TextWriter, message: pb.Expression.FieldReference) -> int:
    """Return the position of a column of the input, or of an outer row; a part of one is refused."""
    if message.WhichOneof("root_type") not in ("root_reference", "outer_reference"):
        raise writer.refuse(f"references to a row that is no input ({message.WhichOneof('root_type')})", message)
    field = message.direct_reference.struct_field
    if message.direct_reference.WhichOneof("reference_type") != "struct_field" or field.HasField("child"):
        raise writer.refuse("references to a part of a column", message)
    return field.field


def write_call(writer: TextWriter, message: pb.Expression.ScalarFunction | pb.AggregateFunction) -> str:
    """Write a call: the name of the function, its arguments and options, and the type of the result."""
    if not message.HasField("output_type"):
        raise writer.refuse("a call without the type of its result", message)
    name = writer.reference("function", message.function_reference, message)
    arguments = [_write_argument(writer, each) for each in message.arguments]
    options = [_write_option(writer, each) for each in message.options]
    written = f"{name}({', '.join([*arguments, *options])}):{write_type(writer, message.output_type)}"
    # A function of this name is no conditional.
    return written.replace("(", f"#{message.function_reference}(", 1) if _IF_THEN.match(written) else written


def _write_argument(writer: TextWriter, message: pb.FunctionArgument) -> str:
    match message.WhichOneof("arg_type"):
        case "value":
            return write_expression(writer, message.value)
        case "enum":
            return f"&{write_name(message.enum)}"
        case other:
            raise writer.refuse(f"an argument that is {other}", message)


def _write_option(writer: TextWriter, message: pb.FunctionOption) -> str:
    words = (message.name, *message.preference)
    if not all(map(_PREFERENCE.fullmatch, words)):
        raise writer.refuse(f"an option of other words than letters and digits ({', '.join(words)})", message)
    return f"{message.name}⇒[{', '.join(message.preference)}]"


def _write_cast(writer: TextWriter, message: pb.Expression.Cast) -> str:
    mark = word_for(FAILURE_BEHAVIORS, message.failure_behavior)
    if mark is None:
        raise writer.refuse(f"a cast of failure_behavior {message.failure_behavior}", message)
    return f"({write_expression(writer, message.input)})::{mark}{write_type(writer, message.type)}"


def _write_if_then(writer: TextWriter, message: pb.Expression.IfThen) -> str:
    if not message.ifs or not message.HasField("else"):
        raise writer.refuse("a conditional without a case, or without what is left", message)
    cases = [
        f"{write_expression(writer, getattr(each, 'if'))} -> {write_expression(writer, each.then)}"
        for each in message.ifs
    ]
    return f"if_then({', '.join(cases)}, _ -> {write_expression(writer, getattr(message, 'else'))})"


def read_expression(reader: TextReader, scanner: Scanner, message: pb.Expression) -> None:
    """Read an expression."""
    with scanner.nested():
        if scanner.take("("):
            _read_cast(reader, scanner, message.cast)
        elif scanner.match(_IF_THEN):
            _read_if_then(reader, scanner, message.if_then)
        elif scanner.match(_COLUMN):
            set_column(message, read_number(scanner, "the number of a column", 31))
        elif not read_literal(reader, scanner, message.literal):
            message.ClearField("literal")
            if not scanner.match(_CALL):
                raise scanner.unexpected("an expression")
            _read_call(reader, scanner, message)


def read_column(scanner: Scanner) -> int:
    """Read a reference to a column; returns its position."""
    if not scanner.match(_COLUMN):
        raise scanner.unexpected('a column, such as "$0"')
    return read_number(scanner, "the number of a column", 31)


def set_column(message: pb.Expression, position: int) -> None:
    """Make an expression the reference to a column of the input."""
    message.selection.direct_reference.struct_field.field = position
    message.selection.root_reference.SetInParent()


def _read_call(reader: TextReader, scanner: Scanner, expression: pb.Expression) -> None:
    anchor = reader.extensions.read_reference(scanner, "function")
    word = further_word(reader, anchor)
    if word is not None:
        read_further_word(reader, scanner, word, expression)
        return
    message = expression.scalar_function
    message.function_reference = anchor
    scanner.expect("(")
    for _ in scanner.items(")"):
        option = scanner.match(_OPTION)
        if option is not None:
            added = message.options.add(name=option[1])
            added.preference.extend(_read_preferences(scanner))
        elif message.options:
            raise scanner.unexpected("another option")
        elif scanner.take("&"):
            message.arguments.add().enum = read_name(scanner, "a word")
        else:
            read_expression(reader, scanner, message.arguments.add().value)
    scanner.expect(")")
    scanner.expect(":")
    read_type(reader, scanner, message.output_type)


def _read_preferences(scanner: Scanner) -> Iterable[str]:
    """Yield the words of an option, in the order of preference."""
    for _ in scanner.items("]"):
        found = scanner.match(_PREFERENCE)
        if found is None:
            raise scanner.unexpected("a word")
        yield found[0]
    scanner.expect("]")


def _read_cast(reader: TextReader, scanner: Scanner, message: pb.Expression.Cast) -> None:
    read_expression(reader, scanner, message.input)
    scanner.expect(")")
    scanner.expect("::")
    mark = next((mark for mark in ("?", "!") if scanner.take(mark)), "")
    message.failure_behavior = FAILURE_BEHAVIORS[mark]  # type: ignore[assignment]  # the table is of plain integers
    read_type(reader, scanner, message.type)


def _read_if_then(reader: TextReader, scanner: Scanner, message: pb.Expression.IfThen) -> None:
    while not scanner.take("_"):
        case = message.ifs.add()
        read_expression(reader, scanner, getattr(case, "if"))
        scanner.expect("->")
        read_expression(reader, scanner, case.then)
        scanner.expect(",")
    if not message.ifs:
        raise scanner.error("a conditional has a case in front of what is left")
    scanner.expect("->")
    read_expression(reader, scanner, getattr(message, "else"))
    scanner.expect(")")


def read_word(scanner: Scanner, words: Iterable[str], what: str) -> str:
    """Read one of several words behind ``&``."""
    scanner.expect("&")
    found = scanner.match(IDENTIFIER)
    if found is None:
        raise scanner.unexpected(what)
    if found[0] not in words:
        raise scanner.unknown(what, found[0], words, found.start())
    return found[0]


def read_argument_name(scanner: Scanner, names: Iterable[str]) -> str:
    """Read the name of an argument, and the sign behind it."""
    found = scanner.match(IDENTIFIER)
    if found is None:
        raise scanner.unexpected("the name of an argument")
    if found[0] not in names:
        raise scanner.unknown("argument", found[0], names, found.start())
    scanner.expect("=")
    return found[0]
