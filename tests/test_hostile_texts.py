"""Plans whose names, words and constants were made to be taken for something else: printed, and run."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from substrait.algebra_pb2 import AggregateFunction, Expression
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl import everyday as e
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.relations import FileItem, Parquet
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, SubstraitDslError, UnsupportedError
from substrait_dsl.fluent.stub import stub_of
from substrait_dsl.proto.plan import encode_plan
from substrait_dsl.spark.sources.paths import MAX_ALTERNATIVES, local_paths
from tests.proto import corpus
from tests.proto.test_fuzz import messages_in
from tests.support import refused, table

if TYPE_CHECKING:
    from datafusion import SessionContext

FORGED = "a\nzzz `\"'\\ ${env:HOME} \0 \u202e\x1b[31m"
TEXTS = (
    "`", '"', "'", "\\", "\\'", "${env:HOME}", "${spark.app.name}", "a\nb", "a\0b", "\u202ex", "a.b", "x" * 10_000,
    "_metadata", "__metadata", "__frame0__", "__s0", "*", "$0", ":param", "?", "{0}", "{", "[#0]", "%s", "--", "/* x",
    "'; DROP TABLE t; --", "x]", "e\u0301", "\r", "\x1b[31m",
)  # fmt: skip
"""What ends a text or a name, is a variable, a pattern, a comment, a column of every table, or is not seen."""


def texts_in(message: Any) -> Iterator[tuple[Any, str, int | None]]:
    """Yield where the texts of a message are: in which message, its field, and the place in a field of several."""
    for inside in messages_in(message):
        for field, value in inside.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING:
                for place in range(len(value)) if field.is_repeated else [None]:
                    yield inside, field.name, place


def forged_plans() -> Iterator[tuple[str, bytes]]:
    """Plans that have everything, with one text of each field at a time replaced, twice per field and phrase."""
    seen: Counter[tuple[str, str]] = Counter()
    for plan in corpus.whole():
        plain = encode_plan(plan)
        for number, (found, name, _) in enumerate(texts_in(plain)):
            key = found.DESCRIPTOR.name, name
            if seen[key] < 4:
                seen[key] += 1
                forged = Plan.FromString(plain.SerializeToString())
                inside, _, place = [*texts_in(forged)][number]
                if place is None:
                    setattr(inside, name, FORGED)
                else:
                    getattr(inside, name)[place] = FORGED
                yield ".".join(key), forged.SerializeToString()


SHOWN: tuple[Callable[[sd.Plan], str], ...] = (
    str,
    repr,
    sd.Plan.explain,
    lambda plan: str(plan.accesses()),
    lambda plan: str(plan.findings),
    lambda plan: str(plan.requirements()),
    lambda plan: "\n".join(root.explain(properties=True) for root in plan.roots),
    lambda plan: "\n".join(f"{root.schema}\n{root.lineage()}" for root in plan.roots),
    lambda plan: str(sd.diff(table("a: i64").to_plan(), plan)),
)


def read_or_none(data: bytes) -> sd.Plan | None:
    """The plan, or None if it is refused, on a line."""
    caught = None
    try:
        return sd.Plan.from_bytes(data)
    except SubstraitDslError as error:
        caught = error
    assert all(line.isprintable() for line in str(caught).split("\n"))
    return None


def test_every_text_of_a_plan_stays_on_its_line() -> None:
    fields = set()
    for field, data in forged_plans():
        fields.add(field)
        plan = read_or_none(data)
        if plan is None:
            continue
        for show in SHOWN:
            with suppress(UnsupportedError):
                for line in show(plan).split("\n"):
                    assert line.isprintable(), (field, line)
                    assert not line.lstrip(" +-").startswith("zzz"), (field, line)
    assert {
        "FunctionOption.name",
        "FunctionOption.preference",
        "FunctionArgument.enum",
        "ExtensionType.name",
        "ExtensionTypeVariation.name",
        "Parameter.string",
        "Parameter.enum",
        "Hint.alias",
        "NamedStruct.names",
    } <= fields


@pytest.mark.parametrize("text", TEXTS)
def test_a_parameter_of_a_type_is_read_as_it_is_printed(text: str) -> None:
    point = t.UserDefined("extension:acme:types", "point", (text, t.I64()))
    assert str(point).isprintable()
    assert parse_type(str(point), urns={"point": point.urn}) == point


@pytest.mark.parametrize("text", TEXTS)
def test_a_class_to_paste_has_names_as_constants(text: str) -> None:
    for columns in ({text: "i64"}, {"s": sd.Struct.of({text: sd.I64()})}, {"u": sd.UserDefined("extension:x:y", text)}):
        source = str(sd.schema_of(sd.read_named("t", columns)))
        if source.startswith("0"):  # columns that no class has
            continue
        module = ast.parse(source)
        assert all(isinstance(each, ast.ImportFrom | ast.ClassDef | ast.Assign) for each in module.body)
        named = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)} - {text}
        assert named <= {"sd", "Annotated", "Columns", "ColumnsS", "s", "u"}


@pytest.mark.parametrize("text", [text for text in TEXTS if " " not in text and text != "--"])
def test_a_hint_has_names_as_constants(text: str) -> None:
    rows = sd.read_named("t", {text: "i64"})
    with pytest.raises(SubstraitDslError) as caught:
        rows.sort(f"{text} desc")
    written = str(caught.value.hint)
    assert written.startswith("write desc(")
    assert ast.literal_eval(written.removeprefix("write desc")) == text


@pytest.mark.parametrize("text", ['x"""\nimport os\n"""', "x'\nimport os\n'", "a\\", '"] = __import__("os")', "\u202e"])
def test_a_stub_has_words_and_names_as_constants(text: str) -> None:
    call = {
        "args": [{"name": "x", "value": "i64"}, {"name": "w", "options": ["A", text]}],
        "options": {"o": {"values": ["P", text]}},
        "return": "i64",
    }
    function = {"name": "foo", "description": text, "impls": [call]}
    made = stub_of(json.dumps({"urn": f"extension:acme:{text}", "scalar_functions": [function]}, indent=1))
    module = ast.parse(made)
    assert not any(isinstance(node, ast.Import) and node.names[0].name == "os" for node in ast.walk(module))
    assert not any(isinstance(node, ast.Call) and ast.unparse(node.func) != "TypeVar" for node in ast.walk(module))
    assert sum(isinstance(node, ast.Constant) and node.value == text for node in ast.walk(module)) == 2
    assert "\u202e" not in made


def test_half_a_character_is_no_name_of_a_field() -> None:
    with refused(InvalidArgumentError, "the name of a field is Unicode text"):
        sd.Struct.of({"\ud800": sd.I64()})


# --- runs


NAMES = [text for text in TEXTS if len(text) < 100]


def names_and_texts_are_right(session: Any, without: str = "") -> None:
    """Rows and names come back as they are; `without` is a character that no name of a column has."""
    names = [name for name in NAMES if not without or without not in name]
    numbers = tuple(range(len(names)))
    wide = sd.read_virtual([numbers], dict.fromkeys(names, "i64"))
    other = wide.rename({name: f"{name}!" for name in names})
    rows = sd.read_virtual(list(enumerate(TEXTS)), {"n": "i64", "s": "string"})
    for relation, wanted in (
        (wide.filter(sd.col(names[3]) >= 0).sort(*names[:3]), [numbers]),
        (wide.aggregate(*names).select(*names), [numbers]),
        (wide.join(other, on=lambda l, r: l[names[0]] == r[f"{names[0]}!"]), [numbers * 2]),
        (wide.filter(sd.exists(other.filter(sd.col(f"{names[1]}!") >= 0))), [numbers]),
        (rows.sort("n"), list(enumerate(TEXTS))),
        (rows.filter(lambda r: r.s.is_in(TEXTS)).sort("n").select("n"), [(n,) for n in range(len(TEXTS))]),
    ):
        read = sd.Plan.from_bytes(relation.to_plan().to_bytes()).roots[0]
        assert read.columns == relation.columns
        assert [tuple(row) for row in read.collect(*session)] == wanted


def test_names_and_texts_without_java() -> None:
    names_and_texts_are_right(())


@pytest.fixture
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    return SessionContext()


def test_names_and_texts_on_datafusion(context: SessionContext) -> None:
    names_and_texts_are_right((context,), without="\0")
    for columns, row in (({"a\0b": "i64"}, (1,)), ({"b": "i64", "a\0b": "i64"}, (1, 2))):
        with refused(UnsupportedError, "collect", r"no column with a NUL character in its name", '"a\\x00b"', "rename"):
            sd.read_virtual([row], columns).collect(context)


def test_braces_stand_for_a_bounded_number_of_paths() -> None:
    item = partial(FileItem, format=Parquet(), kind="glob")
    assert local_paths(item("/no such folder/" + "{a,b}" * 13)) == []
    with refused(UnsupportedError, f"at most {MAX_ALTERNATIVES:,} others"):
        local_paths(item("/no such folder/" + "{a,b}" * 60))


# --- calls that no builder makes


ROWS = sd.read_virtual(
    [("{}", 1, {"k": 2}, [3])], {"s": "string?", "i": "i64?", "m": "map<string, i64?>?", "xs": "list<i64?>?"}
)
CALLS: dict[str, Any] = {
    "date_diff_days": ROWS.select(y=lambda r: e.date_diff("DAY", r.s.cast("date?"), r.s.cast("date?"))),
    "md5": ROWS.select(y=lambda r: e.md5(r.s)),
    "xxhash64": ROWS.select(y=lambda r: e.xxhash64(r.s)),
    "map_entries": ROWS.select(y=lambda r: e.map_entries(r.m)),
    "array_distinct": ROWS.select(y=lambda r: e.array_distinct(r.xs)),
    "get_json": ROWS.select(y=lambda r: e.get_json(r.s, "$.a")),
    "from_json": ROWS.select(y=lambda r: e.from_json(r.s, {"a": "i64?"})),
    "to_json": ROWS.select(y=lambda r: e.to_json(r.xs)),
    "max_by": ROWS.aggregate(y=lambda r: e.max_by(r.s, r.i)),
    "collect_list": ROWS.aggregate(y=lambda r: e.collect_list(r.i)),
    "percentile": ROWS.aggregate(y=lambda r: e.percentile(r.i, 0.5)),
    "percentile of decimals": ROWS.aggregate(y=lambda r: e.percentile(r.i.cast("decimal<9,2>?"), 0.5)),
    "approx_percentile": ROWS.aggregate(y=lambda r: e.approx_percentile(r.i, 0.5)),
}


def call_in(plan: Plan) -> Any:
    """The call of a plan."""
    calls = (Expression.ScalarFunction, AggregateFunction)
    return next(each for each in messages_in(plan) if isinstance(each, calls))


def spoilt_calls(relation: Any) -> Iterator[Plan]:
    """The plan with an argument too few, too many, of another kind, or no constant, one at a time."""
    plain = relation.to_plan().to_proto()
    for position in range(len(call_in(plain).arguments)):
        for spoil in (dropped, doubled, made_word, made_column):
            plan = Plan.FromString(plain.SerializeToString())
            if spoil(call_in(plan).arguments, position):
                yield plan


def dropped(arguments: Any, position: int) -> bool:
    del arguments[position]
    return True


def doubled(arguments: Any, position: int) -> bool:
    arguments.add().CopyFrom(arguments[position])
    return True


def made_word(arguments: Any, position: int) -> bool:
    if arguments[position].WhichOneof("arg_type") == "enum":
        arguments[position].enum = "'; --"
    else:
        arguments[position].enum = "THROW"
    return True


def made_column(arguments: Any, position: int) -> bool:
    if not arguments[position].value.HasField("literal"):
        return False
    arguments[position].value.Clear()
    arguments[position].value.selection.direct_reference.struct_field.field = 0
    arguments[position].value.selection.root_reference.SetInParent()
    return True


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_its_extension_does_not_declare_is_refused(name: str) -> None:
    assert CALLS[name].to_plan().check("spark").verdict != "refused"
    for plan in spoilt_calls(CALLS[name]):
        read = sd.Plan.from_bytes(plan.SerializeToString(), catalog=e.catalog())
        for engine in ("spark", "sail", "datafusion", "duckdb"):
            assert read.check(engine).verdict == "refused"
        with pytest.raises((UnsupportedError, ExecutionError), match=name.split()[0]):
            read.roots[0].collect()


@pytest.mark.parametrize("share", [-0.5, 1.5, float("nan"), float("inf"), None])
@pytest.mark.parametrize("name", ["percentile", "percentile of decimals", "approx_percentile"])
def test_a_share_that_is_none_is_refused(name: str, share: float | None) -> None:
    plan = CALLS[name].to_plan().to_proto()
    literal = call_in(plan).arguments[1].value.literal
    if share is None:
        literal.null.fp64.nullability = 1
    else:
        literal.fp64 = share
    with refused(UnsupportedError, f"the share of {name.split()[0]} is a constant from 0 to 1"):
        sd.Plan.from_bytes(plan.SerializeToString(), catalog=e.catalog()).roots[0].collect()


@pytest.mark.parametrize("accuracy", [0, -1, 2**31])
def test_an_accuracy_that_is_none_is_refused(accuracy: int) -> None:
    plan = CALLS["approx_percentile"].to_plan().to_proto()
    call_in(plan).arguments[2].value.literal.i64 = accuracy
    with refused(UnsupportedError, "the accuracy of approx_percentile is a constant from 1 to 2147483647"):
        sd.Plan.from_bytes(plan.SerializeToString(), catalog=e.catalog()).roots[0].collect()
