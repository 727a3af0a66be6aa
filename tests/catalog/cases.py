"""The specification's own function test cases, read into records.

The files are read with the specification's own grammar (`substrait_antlr`); this module only turns its parse trees into
records: what is called with what, over which rows, and what must come out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal as Number
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import attrs
from antlr4 import CommonTokenStream, InputStream, ParserRuleContext
from antlr4.tree.Tree import TerminalNode
from substrait_antlr.func_test_case.FuncTestCaseLexer import FuncTestCaseLexer
from substrait_antlr.func_test_case.FuncTestCaseParser import FuncTestCaseParser as Parser

from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import FP32, FP64, Decimal, List, Map, Struct, Type
from substrait_dsl.catalog import Kind

DEFAULT_INTERVAL_PRECISION = 6
_BARE_INTERVAL = re.compile(r"\b(iday|interval_day)\b(?!\??<)", re.IGNORECASE)
_BARE_DECIMAL = re.compile(r"\b(dec|decimal)\b(?!\??<)", re.IGNORECASE)
_INTERVAL = re.compile(r"\b(iday|interval_day)(\??)(?!\??<)\b", re.IGNORECASE)
_BARE_DECIMAL = re.compile(r"\b(dec|decimal)(\??)$", re.IGNORECASE)
_INTERVAL = re.compile(
    r"P(?:(?P<years>-?\d+)Y)?(?:(?P<months>-?\d+)M)?(?:(?P<days>-?\d+)D)?"
    r"(?:T(?:(?P<hours>-?\d+)H)?(?:(?P<minutes>-?\d+)M)?(?:(?P<seconds>-?\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


@attrs.frozen
class Interval:
    """An interval literal, as written."""

    years: int = 0
    months: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: Number = Number(0)


@attrs.frozen
class Value:
    """A literal: its text, its type, and the Python value.

    `omitted` says that the file leaves out a parameter of the type (``iday``), which was filled in here.
    """

    text: str
    type: Type
    value: Any = attrs.field(hash=False)
    omitted: bool = False


@attrs.frozen
class Word:
    """An enumeration argument."""

    name: str


@attrs.frozen
class Column:
    """A column of the case's table."""

    index: int
    type: Type


@attrs.frozen
class Parameter:
    """A parameter of the lambda around it."""

    name: str


@attrs.frozen
class Nested:
    """A call among the arguments, or the body of a lambda."""

    function: str
    arguments: tuple[Argument, ...]


@attrs.frozen
class Lambda:
    """A lambda with its stated type."""

    parameters: tuple[str, ...]
    body: Nested
    type: Type


Argument = Value | Word | Column | Parameter | Nested | Lambda


@attrs.frozen
class Table:
    """The rows that an aggregate or window function sees, in order."""

    types: tuple[Type, ...]
    rows: tuple[tuple[Any, ...], ...] = attrs.field(hash=False)


@attrs.frozen
class Case:
    """One test case. A window function's expected value is one value per row."""

    file: str
    line: int
    group: str
    text: str
    kind: Kind
    urn: str
    dependencies: tuple[str, ...]
    function: str
    arguments: tuple[Argument, ...]
    options: tuple[tuple[str, str], ...]
    table: Table | None
    expected: Value | Literal["ERROR", "UNDEFINED"]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.text}"


@cache
def read_all() -> tuple[Case, ...]:
    """Every case of the installed specification."""
    folder = Path(str(files("substrait_extensions.testcases").joinpath("__init__.py"))).parent
    return tuple(
        case
        for path in sorted(folder.rglob("*.test"))
        for case in read_cases(path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix())
    )


def read_cases(text: str, file: str) -> Iterator[Case]:
    """The cases of one file."""
    parser = Parser(CommonTokenStream(FuncTestCaseLexer(InputStream(text))))
    document = parser.doc()
    if parser.getNumberOfSyntaxErrors():
        raise ValueError(f"{file} has syntax errors")
    reader = _Reader(text, file, document.header())
    for group in document.testGroup():
        yield from reader.group(group)


class _Reader:
    def __init__(self, text: str, file: str, header: Any) -> None:
        self.text = text
        self.file = file
        self.aggregates = header.version().SubstraitAggregateTest() is not None
        self.urn = header.include().ExtensionUrn().getText()
        self.dependencies = tuple(each.ExtensionUrn().getText() for each in header.dependency())
        # u!u8 means the type of the tested extension; no file mixes user-defined types of several.
        self.urns = dict.fromkeys(re.findall(r"u!(\w+)", text), self.urn)

    def group(self, group: Any) -> Iterator[Case]:
        description = group.testGroupDescription().getText().lstrip("# ").strip()
        match group:
            case Parser.ScalarFuncTestGroupContext():
                for case in group.testCase():
                    function, arguments = case.functionName.getText(), self.arguments(case.arguments())
                    if self.aggregates:
                        yield self.case(case, description, "aggregate", function, *_user_type_column(arguments))
                    else:
                        yield self.case(case, description, "scalar", function, arguments, None)
            case Parser.AggregateFuncTestGroupContext():
                for case in group.aggFuncTestCase():
                    yield self.case(case, description, "aggregate", *self.aggregate(case.aggFuncCall()))
            case Parser.WindowFuncTestGroupContext():
                for case in group.windowFuncTestCase():
                    yield self.case(case, description, "window", *self.window(case.windowFuncCall()))

    def case(
        self, context: Any, group: str, kind: Kind, function: str, arguments: tuple[Argument, ...], table: Table | None
    ) -> Case:
        options = context.funcOptions()
        return Case(
            file=self.file,
            line=context.start.line,
            group=group,
            text=self.text[context.start.start : context.stop.stop + 1],
            kind=kind,
            urn=self.urn,
            dependencies=self.dependencies,
            function=function,
            arguments=arguments,
            options=tuple(
                (option.optionName().getText(), option.optionValue().getText())
                for option in (options.funcOption() if options else ())
            ),
            table=table,
            expected=self.expected(context.windowResult() if kind == "window" else context.result()),
        )

    def expected(self, result: Any) -> Value | Literal["ERROR", "UNDEFINED"]:
        error = result.substraitError()
        if error is not None:
            return "ERROR" if error.ErrorResult() else "UNDEFINED"
        if isinstance(result, Parser.WindowResultContext):
            return self.column(result.dataColumn())
        value = self.argument(result.argument())
        assert isinstance(value, Value), result.getText()
        return value

    # --- tables

    def aggregate(self, call: Any) -> tuple[str, tuple[Argument, ...], Table]:
        match call:
            case Parser.SingleArgAggregateFuncCallContext():
                column = self.column(call.dataColumn())
                table = Table((column.type,), tuple((value,) for value in column.value))
                return call.functName.getText(), (Column(0, column.type),), table
            case Parser.MultiArgAggregateFuncCallContext():
                table = self.table(call.tableData())
                given = call.qualifiedAggregateFuncArgs()
                arguments = tuple(self.table_argument(each, table) for each in given.qualifiedAggregateFuncArg())
                return call.funcName.getText(), arguments, table
            case Parser.CompactAggregateFuncCallContext():
                return self.compact_aggregate(call)
        raise AssertionError(call)

    def compact_aggregate(self, call: Any) -> tuple[str, tuple[Argument, ...], Table]:
        """``((1.0), (2.0)) variance(SAMPLE::enum, col0::fp32)``: the columns have their types where they are used."""
        arguments: list[Argument] = []
        types: dict[int, Type] = {}
        for given in call.aggregateFuncArgs().aggregateFuncArg():
            if given.ColumnName():
                column = Column(_column_index(given), self.type(given.dataType().getText())[0])
                types[column.index] = column.type
                arguments.append(column)
            else:
                arguments.append(self.argument(given.argument()))
        columns = tuple(types[index] for index in sorted(types))
        return call.functName.getText(), tuple(arguments), self.rows(call.tableRows(), columns)

    def window(self, call: Any) -> tuple[str, tuple[Argument, ...], Table]:
        table = self.table(call.tableData())
        given = call.windowFuncArgs()
        arguments = tuple(self.table_argument(each, table) for each in (given.windowFuncArg() if given else ()))
        return call.funcName.getText(), arguments, table

    def table(self, data: Any) -> Table:
        return self.rows(data.tableRows(), tuple(self.type(kind.getText())[0] for kind in data.dataType()))

    def rows(self, rows: Any, types: tuple[Type, ...]) -> Table:
        read = [
            tuple(_python(literal, type_) for literal, type_ in zip(row.literal(), types, strict=True))
            for row in rows.columnValues()
            if row.literal()  # (()) is an empty table
        ]
        return Table(types, tuple(read))

    def table_argument(self, given: Any, table: Table) -> Argument:
        if given.ColumnName():
            index = _column_index(given)
            return Column(index, table.types[index])
        return self.argument(given.argument())

    def column(self, data: Any) -> Value:
        type_, omitted = self.type(data.dataType().getText())
        values = tuple(_python(literal, type_) for literal in data.columnValues().literal())
        return Value(data.columnValues().getText(), type_, values, omitted)

    # --- arguments

    def arguments(self, arguments: Any) -> tuple[Argument, ...]:
        return tuple(self.argument(each) for each in arguments.argument()) if arguments else ()

    def argument(self, argument: Any) -> Argument:
        node = argument.getChild(0)
        match node:
            case TerminalNode():
                return Parameter(node.getText())
            case Parser.EnumArgContext():
                return Word(node.Identifier().getText())
            case Parser.FuncCallArgContext() | Parser.LambdaBodyContext():
                return Nested(node.identifier().getText(), self.arguments(node.arguments()))
            case Parser.LambdaArgContext():
                return self.lambda_(node)
        text, kind_text = node.getChild(0).getText(), node.getChild(node.getChildCount() - 1).getText()
        type_, omitted = self.type(kind_text, text)
        return Value(text, type_, _python(node.getChild(0), type_), omitted)

    def lambda_(self, node: Any) -> Lambda:
        literal = node.literalLambda()
        names = literal.lambdaParameters().Identifier()
        body = literal.lambdaBody()
        return Lambda(
            tuple(name.getText() for name in (names if isinstance(names, list) else [names])),
            Nested(body.identifier().getText(), self.arguments(body.arguments())),
            self.type(node.funcType().getText())[0],
        )

    def type(self, text: str, value: str = "") -> tuple[Type, bool]:
        """A type, and whether the file left out parameters, which are filled in."""
        scale = len(value.partition(".")[2])
        full = _BARE_DECIMAL.sub(rf"\1<38,{scale}>", text)
        full = _BARE_INTERVAL.sub(rf"\1<{DEFAULT_INTERVAL_PRECISION}>", full)
        return parse_type(full, urns=self.urns), full != text


def _user_type_column(arguments: tuple[Argument, ...]) -> tuple[tuple[Argument, ...], Table]:
    """The column in ``sum(('1', '2')::u!u8)``, which the grammar takes for a scalar call of a struct."""
    (literal,) = arguments
    assert isinstance(literal, Value)
    rows = tuple((None if field is None else (field,),) for field in literal.value)
    return (Column(0, literal.type),), Table((literal.type,), rows)


def _column_index(given: Any) -> int:
    return int(given.ColumnName().getText().lower().removeprefix("col"))


def _python(node: Any, type_: Type | None) -> Any:
    """The Python value of a literal, given the type it has."""
    match node:
        case TerminalNode():
            return _scalar(FuncTestCaseLexer.symbolicNames[node.symbol.type], node.getText(), type_)
        case Parser.LiteralListContext():
            element = type_.element if isinstance(type_, List) else None
            return [_python(item, element) for item in node.compoundLiteral()]
        case Parser.LiteralStructContext():
            items = node.compoundLiteral()
            kinds = type_.types if isinstance(type_, Struct) else (None,) * len(items)
            return tuple(_python(item, inner) for item, inner in zip(items, kinds, strict=True))
        case Parser.LiteralMapContext():
            key, value = (type_.key, type_.value) if isinstance(type_, Map) else (None, None)
            return [(_python(entry.key, key), _python(entry.value, value)) for entry in node.mapEntry()]
        case ParserRuleContext():
            return _python(node.getChild(0), type_)
    raise AssertionError(node)


def _scalar(token: str, text: str, type_: Type | None) -> Any:
    match token:
        case "NullLiteral":
            return None
        case "BooleanLiteral":
            return text.lower() == "true"
        case "StringLiteral":
            return text[1:-1].replace("\\'", "'")  # before anything else, a backslash is one: of a pattern
        case "DateLiteral":
            return dt.date.fromisoformat(text)
        case "TimeLiteral":
            return dt.time.fromisoformat(text)
        case "TimestampLiteral" | "TimestampTzLiteral":
            return dt.datetime.fromisoformat(text)
        case "IntervalYearLiteral" | "IntervalDayLiteral" | "IntervalCompoundLiteral":
            return _interval(text)
        case "IntegerLiteral" | "DecimalLiteral" | "FloatLiteral" | "NaN":
            return _number(text, type_)
    raise AssertionError((token, text))


def _number(text: str, type_: Type | None) -> int | float | Number:
    if isinstance(type_, FP32 | FP64):
        return float(text.lower().replace("snan", "nan"))
    return Number(text) if isinstance(type_, Decimal) else int(text)


def _interval(text: str) -> Interval:
    found = _INTERVAL.fullmatch(text)
    assert found, text
    parts = found.groupdict(default="0")
    seconds = Number(parts.pop("seconds"))
    return Interval(seconds=seconds, **{name: int(part) for name, part in parts.items()})
