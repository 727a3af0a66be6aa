"""Generated programs for type checkers: what people give to the public functions and verbs, of any type of Python's.

Each call below is right as it stands. A program takes one of its arguments, or what it is called on, from a parameter
of some type (a union, an enum, a TypedDict, what is generic ...), in some form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

HEADER = """\
import datetime as dt
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, NewType, Optional, ParamSpec, TypedDict, TypeVar, Union
from typing import overload

import substrait_dsl as sd
from substrait_dsl import functions as f


class A(sd.Schema):
    key: sd.I64
    price: sd.FP64
    name: sd.String
    day: sd.Date
    tags: sd.List[sd.String]


class B(sd.Schema):
    id: sd.I64
    title: sd.Nullable[sd.String]


class Color(enum.Enum):
    RED = "key"
    BLUE = 2


class Word(enum.StrEnum):
    KEY = "key"
    PRICE = "price"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Options(TypedDict, total=False):
    key: str
    price: str


class Pair(NamedTuple):
    key: str
    price: int


Held = TypeVar("Held")


class Box(Generic[Held]):
    pass


Name = NewType("Name", str)
P = ParamSpec("P")
S = TypeVar("S", bound=sd.Schema)
W = TypeVar("W", str, int)
X = TypeVar("X")
ROW = A
t = sd.read_named("t", A)
u = sd.read_named("u", B)
FINAL: Final = "key"


@overload
def either(x: int) -> int: ...
@overload
def either(x: str) -> str: ...
def either(x: int | str) -> int | str:
    return x


def passed(x: X) -> X:
    return x


def wrapped(function: Callable[P, X]) -> Callable[P, X]:
    return function


@wrapped
def positive(row: A) -> sd.Expr[sd.Boolean]:
    return row.key > 0


@wrapped
def counted(row: A) -> sd.Measure[sd.I64]:
    return f.count()


"""
"""What every module of programs begins with."""

CALLS = """
sd.read_named(<"t">, <A>, columns=<["key"]>)
sd.read_named(<("db", "t")>, <{"key": "i64"}>, filter=<lambda r: r.key > 1>)
sd.read_named("t", {"key": <"i64">, "b": <sd.I64>}, ordering=<"key">)
sd.read_files(<"a.csv">, <{"id": "string"}>, format=<"csv">)
sd.read_files(<["a.parquet"]>, <A>, kind=<"folder">, columns=<["key"]>)
sd.read_virtual(<[(1, "x")]>, <{"id": sd.I64, "name": "string"}>)
sd.read_iceberg(<"m.json">, <A>, snapshot_id=<"1">)
sd.read_extension(<sd.AnyMessage("x.y/z", b"")>, <A>)
sd.lit(<1>)
sd.lit(<1>, <sd.I32>)
sd.null(<"i64">)
sd.col(<"key">)
sd.asc(<"key">, nulls=<"last">)
sd.desc(<sd.col("key")>)
sd.clustered(<"key">)
sd.compared(<"key">, <lambda x, y: x < y>)
sd.when(<sd.col("key") > 1>).then(<1>).otherwise(<2>)
sd.switch(<sd.col("key")>, <{1: "a"}>, <"b">)
sd.list_of(<1>, <2>)
sd.map_of(<{"a": 1}>)
sd.struct_of(a=<1>)
sd.record(<sd.col("key")>, <sd.col("name")>)
sd.exists(<u>)
sd.unique(<u>)
sd.scalar_subquery(<u.select("id")>)
sd.any_of(<u.select("id")>)
sd.all_of(<u.select("id")>)
sd.parameter(<1>, <sd.I64>)
sd.parse_type(<"i64">)
sd.current_timestamp(<6>)
sd.current_date()
sd.current_timezone()
sd.lambda_(<{"x": sd.I64}>, <lambda x: x>)
sd.preceding(<1>)
sd.following(<1>)
sd.elements(<0>, first=<0>)
sd.join_key(<"key">, <"id">, <"eq">)
sd.scatter(<"key">)
sd.single_bucket(<"key">)
sd.multi_bucket(<"key">)
sd.broadcast()
sd.round_robin(<True>)
sd.switching(<1>, <2>)
sd.shared(<t>)
sd.subtree(<t>)
sd.exchange_target(<"x">, <1>)
sd.files_target(<"out">, <"parquet">)
sd.virtual_target(<"out">)
sd.extension_object(<sd.AnyMessage("x.y/z", b"")>)
sd.extension_leaf(<sd.AnyMessage("x.y/z", b"")>, <A>)
sd.extension_multi(<[t]>, <sd.AnyMessage("x.y/z", b"")>, <A>)
sd.create_table(<"t">, <A>, <{"key": 1}>, or_replace=<True>)
sd.alter_table(<"t">, <A>)
sd.drop_table(<"t">, if_exists=<True>)
sd.create_view(<"v">, <t>)
sd.alter_view(<"v">, <t>)
sd.drop_view(<"v">)
sd.update(<"t">, <A>, <{"price": 1.0}>, <lambda r: r.key > 1>)
sd.update("t", A, {"price": <1.0>}, where=<True>)
sd.update("t", A, <lambda r: {"price": r.price * 2.0}>, <True>)
sd.reveal_schema(<t>)
sd.Decimal(<15>, <2>)
sd.VarChar(<10>)
sd.PrecisionTimestamp(<6>, nullable=<True>)
sd.UserDefined(<"extension:x:y">, <"z">)
sd.Struct.of(<{"a": sd.I64()}>)
sd.AnyMessage(<"x.y/z">, <b"">)
sd.FileSlice(<"a">, <0>)
<t>.select(<"key">, <"price">, x=<sd.col("name")>)
<t>.select(<lambda r: r.key>, y=<lambda r: r.price * 2.0>)
<t>.select(*<["key", "name"]>)
<t>.drop(<"key">, <"name">)
<t>.rename(<{"key": "k"}>)
<t>.rename(key=<"k">)
<t>.project(x=<lambda r: r.key + 1>)
<t>.with_columns(price=<lambda r: r.price + 1.0>, z=<1>)
<t>.filter(<lambda r: r.key > 1>, <sd.col("price") < 2.0>)
<t>.filter(lambda r: r.key == <1>)
<t>.filter(lambda r: r.key.is_in(<[1, 2]>))
<t>.filter(lambda r: r.day < <dt.date(2024, 1, 1)>)
<t>.sort(<"key">, <sd.desc("price")>, <lambda r: r.name>)
<t>.fetch(<10>, <5>)
<t>.limit(<10>)
<t>.top_n(<3>, <sd.desc("price")>, with_ties=<True>)
<t>.distinct()
<t>.simple_capture()
<t>.merging_capture(<True>)
<t>.aggregate(<"key">, n=<f.count()>, total=<lambda r: f.sum(r.price)>)
<t>.aggregate(<"key">, <"name">, grouping_sets=<[["key"], []]>, n=<f.count()>)
<t>.group_by(<"key">, half=<lambda r: r.price / 2.0>).agg(n=<f.count()>)
<t>.group_by(<"key">).rollup(<f.count().alias("n")>)
<t>.group_by(<"key">).cube(n=<f.count()>)
<t>.join(<u>, <lambda a, b: a.key == b.id>, how=<"left">)
<t>.join(<u>, on=<True>, how=<"left_mark">, mark=<"m">)
<t>.join(<t>, <"key">)
<t>.join(<t>, <["key", "name"]>)
<t>.cross(<u>)
<t>.hash_join(<u>, <("key", "id")>, <"inner">)
<t>.merge_join(<u>, <lambda a, b: a.key == b.id>)
<t>.nested_loop_join(<u>, <lambda a, b: a.key < b.id>)
<t>.lateral_join(<lambda r: u.filter(lambda s: s.id == r.key)>, how=<"left">)
<t>.union_all(<t>, <t>)
<t>.union(<t>)
<t>.intersect(<t>)
<t>.subtract(<t>)
<t>.set_op(<"union_all">, <t>)
<t>.as_(<A>)
<t>.into(<lambda r: B(id=r.key, title=r.name)>)
<t>.emit(<[0, 1]>)
<t>.exchange(<sd.broadcast()>, partition_count=<2>)
<t>.expand(x=<sd.switching(1, 2)>, index=<"i">)
<t>.unnest(<"tags">, element=<"tag">)
<t>.window(partition_by=<"key">, order_by=<"price">, n=<f.row_number()>)
<t>.hint(<10>, <5>, <"name">)
<t>.with_extension(<None>)
<t>.extension_single(<sd.AnyMessage("x.y/z", b"")>, <A>)
<t>.write(<"out">, <"insert">)
<t>.write(<("db", "out")>, <"ctas">, create_mode=<"replace_if_exists">)
<t>.as_value(<"v">)
<t>.to_plan()
<t>.to_plan().with_roots(<t>)
<t>.to_plan().to_bytes()
<t>.to_plan().to_json()
<t>.to_plan().requirements()
<t>[<"key">]
<t>.c.key
<t>.schema[<"key">]
<t>.columns
t.c.key.cast(<sd.I32>, on_failure=<"return_null">)
t.c.key.between(<1>, <2>)
t.c.key.is_in(<[1, 2]>)
t.c.key.alias(<"k">)
t.c.key.asc(<"last">)
t.c.key.desc(<"last">)
t.c.key.is_null()
t.c.key.is_not_null()
t.c.key.assert_not_null()
t.c.name.keep(<"x">)
t.c.key + <1>
t.c.price * <2.0>
<1> + t.c.key
t.c.key == <1>
t.c.key < <1>
(t.c.key > 1) & <(t.c.price > 1.0)>
~<(t.c.key > 1)>
-<t.c.key>
t.c.tags[<0>]
f.count().alias(<"n">)
f.count().distinct()
f.sum(sd.col("key")).filter(<sd.col("key") > 1>)
f.sum(sd.col("key")).order_by(<"key">)
f.sum(sd.col("key")).over(partition_by=<"key">, order_by=<"price">, rows=<(None, 0)>)
f.sum(sd.col("key")).frame(rows=<(None, 0)>)
f.row_number().over(partition_by=<"key">, order_by=<sd.desc("price")>)
f.sum(<sd.col("key")>)
f.concat(<sd.col("name")>, <"x">)
f.coalesce(<sd.col("key")>, <1>)
f.substring(<sd.col("name")>, <1>, <2>)
f.extract(<"YEAR">, <sd.col("day")>)
f.add(<sd.col("key")>, <1>, overflow=<"ERROR">)
f.and_(<sd.col("key") > 1>, <sd.col("key") < 5>)
f.equal(<sd.col("key")>, <1>)
f.upper(<sd.col("name")>)
f.round(<sd.col("price")>, <2>)
f.transform(<sd.col("tags")>, <lambda x: f.upper(x)>)
f.is_null(<sd.col("key")>)
"""
"""Right calls; what stands in angle brackets may be another value."""

Kind = tuple[str, Sequence[str]]
"""An annotation, and values of it, one for each item of a union."""

TEXTS: Sequence[Kind] = (
    ("str | Path", ('"key"', 'Path("key")')),
    ("str | None", ('"key"', "None")),
    ("Literal['key', 'price']", ('"key"', '"price"')),
    ("Literal['key'] | Literal[1]", ('"key"', "1")),
    ("Word", ("Word.KEY", "Word.PRICE")),
    ("Literal[Word.KEY] | None", ("Word.KEY", "None")),
    ("Name", ('Name("key")',)),
    ("W", ('"key"', "1")),
    ("str | sd.DynExpr", ('"key"', 'sd.col("key")')),
    ("str | int", ('"key"', "0")),
    ("list[str] | None", ('["key"]', "None")),
    ("str | Sequence[str]", ('"key"', '["key"]')),
    ("tuple[str, ...]", ('("key",)',)),
    ("tuple[str, str] | str", ('("key", "name")', '"key"')),
    ("Literal['left', 'inner', 'left_semi']", ('"left"', '"inner"', '"left_semi"')),
    ("Literal['csv', 'parquet']", ('"csv"', '"parquet"')),
    ("set[str]", ('{"key"}',)),
)
NUMBERS: Sequence[Kind] = (
    ("int | float", ("1", "1.5")),
    ("int | None", ("1", "None")),
    ("Literal[1, 2]", ("1", "2")),
    ("Number", ("Number.ONE", "Number.TWO")),
    ("Literal[Number.ONE]", ("Number.ONE",)),
    ("Decimal | int", ('Decimal("1.50")', "1")),
    ("bool | int", ("True", "1")),
    ("Optional[bool]", ("True", "None")),
    ("int | sd.Expr[sd.I64]", ("1", "t.c.key")),
    ("list[int] | tuple[int, ...]", ("[1]", "(1,)")),
    ("dt.date | dt.datetime", ("dt.date(2024, 1, 1)", "dt.datetime(2024, 1, 1)")),
    ("dt.date", ("dt.date(2024, 1, 1)",)),
    ("dt.date | None", ("dt.date(2024, 1, 1)", "None")),
    ("range", ("range(2)",)),
)
TYPES: Sequence[Kind] = (
    ("type[A] | type[B]", ("A", "B")),
    ("type[S]", ("A", "B")),
    ("type[A] | None", ("A", "None")),
    ("type[A] | dict[str, str]", ("A", '{"key": "i64"}')),
    ("dict[str, str] | Mapping[str, sd.Type]", ('{"key": "i64"}', '{"key": sd.I64()}')),
    ("dict[str, str] | None", ('{"key": "i64"}', "None")),
    ("dict[str, Any]", ('{"key": "i64"}',)),
    ("Options", ('{"key": "k"}',)),
    ("Pair", ('Pair("key", 1)',)),
    ("sd.I64 | sd.String", ("sd.I64()", "sd.String()")),
    ("type[sd.I64] | type[sd.String]", ("sd.I64", "sd.String")),
    ("sd.Type | None", ("sd.I64()", "None")),
    ("sd.RelationSchema | type[A]", ("t.schema", "A")),
)
EXPRESSIONS: Sequence[Kind] = (
    ("sd.Expr[sd.I64] | None", ("t.c.key", "None")),
    ("sd.Expr[sd.I64] | sd.Expr[sd.FP64]", ("t.c.key", "t.c.price")),
    ("sd.Expr[sd.Boolean] | Literal[True]", ("t.c.key > 1", "True")),
    ("sd.Expr[sd.Boolean, sd.Null] | bool", ("t.c.key > 1", "True")),
    ("sd.DynExpr | sd.SortKey", ('sd.col("key")', 'sd.desc("key")')),
    ("sd.Measure[sd.I64] | sd.Expr[sd.I64]", ("f.count()", "t.c.key")),
    ("sd.Measure[Any, Any]", ("f.count()",)),
    ("sd.Measure[sd.I64] | sd.WindowFunction[sd.I64]", ("f.count()", "f.row_number()")),
    ("list[sd.DynExpr]", ('[sd.col("key")]',)),
    ("Callable[[A], sd.Expr[sd.Boolean]]", ("lambda r: r.key > 1",)),
    ("Callable[[A], Any]", ("lambda r: r.key",)),
    ("Callable[P, sd.Expr[sd.Boolean]]", ("lambda r: r.key > 1",)),
    ("Callable[..., sd.DynExpr] | sd.DynExpr", ('lambda *r: sd.col("key")', 'sd.col("key")')),
    ("Callable[[A], sd.Expr[sd.I64]] | str", ("lambda r: r.key", '"key"')),
)
RELATIONS: Sequence[Kind] = (
    ("sd.Relation[A] | sd.Relation[B]", ("t", "u")),
    ("sd.Relation[A] | None", ("t", "None")),
    ("sd.Relation[S]", ("t", "u")),
    ("sd.Relation[Any]", ("t", "u")),
    ("sd.Relation", ('t.select("key")',)),
    ("sd.Relation[A] | sd.GroupBy[A, Any]", ("t", 't.group_by("key")')),
    ("list[sd.Relation[A]]", ("[t]",)),
    ("tuple[sd.Relation[A], sd.Relation[B]]", ("(t, u)",)),
    ("sd.Relation[A]", ("t",)),
)
ANYTHING: Sequence[Kind] = (
    ("Any", ('"key"', "1", "None", "t")),
    ("object", ('"key"', "1", "None")),
    ("X", ('"key"', "1", "None")),
    ("Color", ("Color.RED", "Color.BLUE")),
    ("Color | str", ("Color.RED", '"key"')),
    ("bytes | None", ('b""', "None")),
    ("Union[str, int, None, A]", ('"key"', "1", "None")),
    ("Box[int]", ("Box()",)),
    ("type[Exception]", ("ValueError",)),
)
ALL = (*TEXTS, *NUMBERS, *TYPES, *EXPRESSIONS, *RELATIONS, *ANYTHING)

FORMS = (
    *("{v}", "{v}", "{v}", "{v}", "[{v}]", "({v},)", '{{"key": {v}}}', "{v} or {d}", "{d} if {v} else {v}"),
    *("passed({v})", "(lambda *_: {v})", "({v} if isinstance({v}, str) else {d})", "[{v}, {d}]", "either({v})"),
    *("next(iter([{v}]))", "(w := {v})", "[each for each in [{v}]]", "sd.lit({v})", "[*{v}]", "dict({v})"),
)
"""How a value is given. ``{v}`` is the parameter, ``{d}`` what would be right."""

BODIES = (
    "{call}",
    "{call}",
    "{call}",
    "for v in (v, v):\n        {call}",
    "if isinstance(v, (str, int)):\n        {call}\n    else:\n        {call}",
    "x = {call}\n    passed(x)",
    "if v is None:\n        return\n    {call}",
    "try:\n        x = {call}\n    finally:\n        pass",
)

HOLE = re.compile(r"<((?:[^<>]|(?<=\s)[<>](?=\s))*)>")


def kinds_for(right: str, random: Random) -> Sequence[Kind]:
    """Types among which are such as an argument may be of; any in one case of three."""
    if random.random() < 0.33:
        return ALL
    if right in ("t", "u", "[t]") or right.startswith("u."):
        return RELATIONS
    if "lambda" in right or right.startswith(("sd.col", "f.", "(t.c", "t.c", "sd.desc")):
        return (*EXPRESSIONS, *TEXTS[:9])
    if right.startswith('"') or '"' in right[:3]:
        return TEXTS
    if right in ("A", "sd.I64", "sd.I32") or right.startswith("{"):
        return TYPES
    return NUMBERS


class Case:
    """One function of a generated module, and values with which it can be called."""

    def __init__(self, number: int, random: Random, calls: Sequence[str]) -> None:
        call = calls[number % len(calls)] if number < len(calls) else random.choice(calls)
        holes = list(HOLE.finditer(call))
        chosen = random.choice(holes) if holes else None
        right = chosen[1] if chosen else "1"
        self.annotation, self.values = random.choice(kinds_for(right, random))
        form = random.choice(FORMS).format(v="v", d=f"({right})")
        made = HOLE.sub(lambda found: form if chosen and found.start() == chosen.start() else found[1], call)
        self.name = f"case_{number}"
        body = random.choice(BODIES).replace("{call}", made)
        self.text = f"def {self.name}(v: {self.annotation}) -> None:\n    {body}\n\n\n"


def cases(seed: str, count: int) -> list[Case]:
    """So many cases: each of the calls first, then any of them."""
    random = Random(seed)
    calls = [line for line in CALLS.splitlines() if line]
    return [Case(number, random, calls) for number in range(count)]


def module(found: Sequence[Case]) -> tuple[str, Mapping[int, Case]]:
    """A module of cases, and for each of its lines the case that stands there."""
    text, lines = HEADER, {}
    for case in found:
        first = text.count("\n") + 1
        text += case.text
        lines.update(dict.fromkeys(range(first, text.count("\n") + 1), case))
    return text, lines
