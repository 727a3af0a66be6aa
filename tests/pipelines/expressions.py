"""Random expressions, as text: put together from smaller ones, and tried on the rows that they are about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, TypeVar

import attrs

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.catalog import EnumArgument, Kind, Overload, ValueArgument, standard_catalog
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.column_arguments import Role, evaluate
from substrait_dsl.fluent.namespace import python_name
from substrait_dsl.fluent.scope import Scope
from tests.pipelines.spelling import literal, random_type, spelled

T = TypeVar("T")
Test = Callable[[t.Type], bool]

FORMS = """
({number} {arithmetic} {same})       ({number} {arithmetic} {literal})       ({decimal} {arithmetic} {decimal})
({decimal} {arithmetic} {literal})   (3 {arithmetic} {number})               (-{number})
abs({number})                        ({instant} + {interval})                ({instant} - dt.timedelta(days=2))
({any} {comparison} {same})          ({any} {comparison} {literal})          ({any} {comparison} {literal})
({boolean} {logic} {boolean})        (~{boolean})                            ({boolean} {logic} True)
{any}.is_null()                      {any}.is_not_null()                     {any}.between({literal}, {same})
{any}.is_in([{literal}, {same}])     {any}.is_in(({literal}, {literal}))     {any}.is_in({rows})
({any} {comparison} sd.any_of({rows}))                  ({any} {comparison} sd.all_of({rows}))
{any}.cast({type})                   {any}.cast({type}, on_failure="return_null")
sd.when({boolean}).then({any}).otherwise({same})        sd.when({boolean}).then({any}).otherwise(None)
sd.when({boolean}).then({literal_of}).when({boolean}).then({any}).otherwise(sd.null({type_of}))
sd.switch({plain}, {{{literal}: {any}}}, None)          sd.switch({integer}, {{1: "one", 2: "two"}}, "many")
sd.lit({literal_of})                 sd.lit({literal_of}, {type_of})         sd.null({type})
sd.parameter(1, {type})              sd.exists({relation})                   sd.unique({relation})
sd.scalar_subquery({rows_of})        sd.record({any}, {same}).is_in([({first}, {first})])
sd.struct_of(x={any}, y={any})       sd.struct_of(x={any})["x"]              sd.struct_of(x={any}, y={any})[1]
sd.list_of({any}, {same})            sd.list_of({any}, None)                 sd.list_of({any}, {literal})[0]
sd.map_of({{"k": {any}}})            sd.map_of([({string}, {any})])          sd.map_of({{"k": {any}}})["k"]
{address}["city"]                    {address}[1]                            {person}["address"]["zip"]
{person}.keep("name", {{"address": ["city"]}})          {person}.keep("address")["address"]
{list}[0]                            {map}["k"]                              {any}.alias("other")
sd.struct_of(x={list}, y={any}).keep({{"x": sd.elements(0, 2)}}, "y")
sd.struct_of(x=sd.list_of({person})).keep({{"x": sd.elements(first=1, keep=["address"])}})["x"]
sd.current_date()                    sd.current_timestamp(3)                 sd.current_timezone()
f.transform({list}, lambda x: x.is_null())              f.filter({list}, lambda x: x.is_not_null())
f.any_match({list}, lambda x: x.is_null())              f.all_match({list}, lambda x: x.is_null() | {boolean})
sd.list_of({any}, sd.lambda_({{"x": {type_of}}}, lambda x: sd.when(x.is_null()).then(None).otherwise(x))({first}))[0]
{aggregate}.over()                   {aggregate}.over(partition_by="{column}")
{window}.over(order_by=sd.desc("{column}"))             {window}.over(partition_by=["{column}"], order_by="{column}")
{aggregate}.over(order_by="{column}", rows=(-3, 0))     {window}.over(order_by={any}, rows=(sd.preceding(3), None))
{aggregate}.over(order_by=["{column}"], rows=(None, sd.following(2)))
"""
"""What expressions are made of: the words in braces are written by `Expressions`."""

_FORMS = [form for line in FORMS.strip().splitlines() for form in re.split(r"  +", line.strip())]
_HOLE = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_CHOICES = {
    "arithmetic": ("+", "-", "*", "/", "%"),
    "comparison": ("==", "!=", "<", "<=", ">", ">="),
    "logic": ("&", "|", "^"),
}
NUMBERS = (t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64)
TESTS: dict[str, Test] = {
    "any": lambda _: True,
    "number": lambda type_: isinstance(type_, NUMBERS),
    "integer": lambda type_: isinstance(type_, NUMBERS[:4]),
    "decimal": lambda type_: isinstance(type_, t.Decimal),
    "boolean": lambda type_: isinstance(type_, t.Boolean),
    "string": lambda type_: type_ == t.String(),
    "instant": lambda type_: isinstance(type_, t.Date | t.PrecisionTimestamp | t.PrecisionTimestampTZ),
    "interval": lambda type_: isinstance(type_, t.IntervalYear | t.IntervalDay),
    "plain": lambda type_: not isinstance(type_, t.List | t.Map | t.Struct),
    "list": lambda type_: isinstance(type_, t.List),
    "map": lambda type_: isinstance(type_, t.Map),
    "address": lambda type_: isinstance(type_, t.Struct) and type_.names == ("city", "zip"),
    "person": lambda type_: isinstance(type_, t.Struct) and type_.names == ("name", "address"),
}
KINDS: dict[str, Kind] = {"scalar": "scalar", "aggregate": "aggregate", "window": "window"}
OVERLOADS = {kind: [each for each in standard_catalog().overloads() if each.kind == kind] for kind in KINDS.values()}


def rare(random: Random, options: Sequence[T], used: Counter[str], name: Callable[[T], str] = str) -> T:
    """One of several things, rather one that has not been tried often: so all of them are."""
    chosen = min(random.sample(options, min(len(options), 8)), key=lambda option: used[name(option)])
    used[name(chosen)] += 1
    return chosen


class CannotWriteError(Exception):
    """There is nothing to put into a hole of a form."""


@attrs.frozen
class Piece:
    """An expression and its type."""

    text: str
    type: t.Type


class Expressions:
    """Writes expressions over the rows of a verb: those of one relation, or of both sides of a join.

    Args:
        names: what the program has defined so far.
        inputs: for each row the parameter of the lambda, the text and the value of the relation.
        in_lambda: whether the expressions stand in a lambda.
        used: how often each form and each function has been tried.
    """

    def __init__(
        self,
        random: Random,
        names: dict[str, Any],
        inputs: Sequence[tuple[str, str, sd.Relation[Any]]],
        in_lambda: bool,
        used: Counter[str],
    ) -> None:
        self.random, self.names, self.inputs, self.in_lambda, self.used = random, names, inputs, in_lambda, used
        self.columns = [field for _, _, relation in inputs for field in relation.schema]
        self.pieces = self._columns()
        self._first: Piece | None = None

    @property
    def parameters(self) -> str:
        """The parameters of the lambda."""
        return ", ".join(parameter for parameter, _, _ in self.inputs)

    def some(self, test: Test = TESTS["any"], attempts: int = 6) -> Piece:
        """An expression whose type passes a test. Raises `CannotWriteError`."""
        for _ in range(attempts):
            self.grow()
        found = [piece for piece in self.pieces if test(piece.type)]
        if not found:
            raise CannotWriteError
        return self.random.choice(found[-8:])

    def argument(self, test: Test = TESTS["any"], attempts: int = 6) -> str:
        """As `some`, the text that a verb takes: a lambda around it, where these expressions stand in one."""
        return self.wrapped(self.some(test, attempts).text)

    def wrapped(self, text: str) -> str:
        """The lambda around a text, where these expressions stand in one."""
        return f"lambda {self.parameters}: {text}" if self.in_lambda else text

    def column(self) -> Piece:
        """A column, written in one of many ways."""
        number = self.random.randrange(len(self.columns))
        return Piece(self._written(number), self.columns[number].type)

    def type_of(self, text: str) -> t.Type:
        """The type of an expression. Raises an error of the library for what is none."""
        value = eval(self.wrapped(text), self.names)
        scope = Scope("test", tuple(relation._rel for _, _, relation in self.inputs))
        return evaluate(value, scope, Role.VALUE).type

    def grow(self) -> None:
        """Try to make one expression more of those that there are."""
        form = "{scalar}" if self.random.random() < 0.35 else rare(self.random, _FORMS, self.used)
        try:
            text = self.filled(form)
            type_ = self.type_of(text)
            if len(text) < 240:
                self.pieces.append(Piece(text, type_))
        except (CannotWriteError, SubstraitDslError):
            return

    def filled(self, form: str) -> str:
        """A form with expressions in its holes. Raises `CannotWriteError`."""
        self._first = None
        return _HOLE.sub(lambda hole: self._in_hole(hole[1]) if hole[1] else hole[0][0], form)

    def _in_hole(self, what: str) -> str:
        if what in _CHOICES:
            return self.random.choice(_CHOICES[what])
        if what in KINDS:
            return self.call(KINDS[what])
        if what in TESTS:
            piece = self._pick(TESTS[what])
            self._first = self._first or piece
            return piece.text
        type_ = random_type(self.random) if self._first is None else self._first.type
        match what:
            case "first" if self._first is not None:
                return self._first.text
            case "same":
                return self._pick(lambda other: other.as_required() == type_.as_required()).text
            case "literal" | "literal_of":
                self._first = self._first or Piece("", type_.as_required())
                return self._literal(type_)
            case "type":
                return spelled(random_type(self.random), self.random)
            case "type_of":
                return spelled(type_, self.random)
            case "column":
                return self.random.choice(self.columns).name
            case "relation":
                return self._subquery(self.random.choice(self.inputs)[1], None)
            case "rows" | "rows_of":
                return self._rows(type_ if what == "rows" else None)
        raise CannotWriteError

    def _literal(self, type_: t.Type) -> str:
        text = literal(type_, self.random)
        if text is None:
            raise CannotWriteError
        return text

    def _pick(self, test: Test) -> Piece:
        found = [piece for piece in self.pieces if test(piece.type)]
        if not found:
            raise CannotWriteError
        return self.random.choice(found)

    def _rows(self, type_: t.Type | None) -> str:
        """A relation of one column, of a type if one is wanted."""
        _, text, relation = self.random.choice(self.inputs)
        found = [field.name for field in relation.schema if type_ is None or field.type.matches(type_)]
        if not found:
            raise CannotWriteError
        return self._subquery(text, self.random.choice(found))

    def _subquery(self, text: str, column: str | None) -> str:
        """A relation inside an expression; in a lambda, often one that depends on its row."""
        if not text.isidentifier():
            raise CannotWriteError
        if self.in_lambda and self.random.random() < 0.5:
            text += f".filter(lambda inner: inner[0] == {self._written(0)})"
        return text if column is None else f'{text}.select("{column}")'

    def _columns(self) -> list[Piece]:
        return [Piece(self._written(number), field.type) for number, field in enumerate(self.columns)]

    def _written(self, number: int) -> str:
        """A column in one of the ways that the place allows."""
        position = number
        side = 0
        while position >= len(self.inputs[side][2].schema):
            position -= len(self.inputs[side][2].schema)
            side += 1
        parameter, text, relation = self.inputs[side]
        name = self.columns[number].name
        once = sum(field.name == name for field in self.columns) == 1
        forms = [f"sd.col({number})"]
        if once:
            forms += [f'sd.col("{name}")', f'sd.col("{name}")', *self._by_class(name, relation)]
        if sum(field.name == name for field in relation.schema) == 1:
            if text.isidentifier() and sum(other is relation for _, _, other in self.inputs) == 1:
                forms += [f"{text}.c.{name}", f'{text}["{name}"]']
            if self.in_lambda:
                forms += [f"{parameter}.{name}"] * 5 + [f'{parameter}["{name}"]']
        if self.in_lambda:
            forms.append(f"{parameter}[{position}]")
        return self.random.choice(forms)

    def _by_class(self, name: str, relation: sd.Relation[Any]) -> list[str]:
        """The column of the first schema class that has such a column."""
        for text, value in self.names.items():
            if isinstance(value, type) and issubclass(value, sd.Schema):
                field = next((field for field in value.__struct__ if field.name == name), None)
                if field is not None and field.type == relation.schema[name]:
                    return [f"{text}.{name}"]
        return []

    # --- functions

    def call(self, kind: Kind) -> str:
        """A call of a function of the catalogue. Raises `CannotWriteError` where those that were tried take others."""
        for _ in range(6):
            overload = rare(self.random, OVERLOADS[kind], self.used, lambda each: each.name)
            with suppress(CannotWriteError):
                return self._call(overload)
        raise CannotWriteError

    def _call(self, overload: Overload) -> str:
        count = len(overload.arguments)
        if overload.variadic is not None:
            count += self.random.choice((0, 0, 1))
        bound: dict[str, t.Type] = {}
        arguments = [self._argument(overload, position, bound) for position in range(count)]
        if overload.options and self.random.random() < 0.3:
            option = self.random.choice(overload.options)
            arguments.append(f'{option.name}="{self.random.choice(option.values)}"')
        return f"f.{python_name(overload.name)}({', '.join(arguments)})"

    def _argument(self, overload: Overload, position: int, bound: dict[str, t.Type]) -> str:
        argument = overload.argument_at(position)
        if isinstance(argument, EnumArgument):
            return f'"{self.random.choice(argument.options)}"'
        if not isinstance(argument, ValueArgument):
            raise CannotWriteError
        pattern = argument.pattern
        label = str(pattern)

        def fits(type_: t.Type) -> bool:
            if pattern.is_any:
                return label == "any" or label not in bound or bound[label].matches(type_)
            return type_.keyword == pattern.keyword

        if argument.constant or (not pattern.is_any and self.random.random() < 0.3):
            plain = {"i8": "1", "i16": "1", "i32": "2", "i64": "3", "fp64": "0.5", "string": '"a"', "varchar": '"a"'}
            if pattern.keyword in plain:
                return plain[pattern.keyword]
        piece = self._pick(fits)
        bound.setdefault(label, piece.type)
        return piece.text
