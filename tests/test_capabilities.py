"""What a system says that it takes, and what of a plan it lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.errors import (
    CatalogError,
    InvalidArgumentError,
    InvalidChoiceError,
    PlanFormatError,
    SubstraitDslError,
)
from substrait_dsl.proto.versions import installed_version
from tests.support import f, refused, table

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"
SCAN = "type.googleapis.com/acme.Scan"


# --- what a system lacks

ALL: dict[str, Any] = {
    "versions": ["{}.{}".format(*installed_version())],
    "relations": "all",
    "expressions": "all",
    "types": "all",
    "functions": [sd.FunctionCapability(ARITHMETIC, "add"), sd.FunctionCapability(COMPARISON, "gt")],
}
"""All that `pipeline` needs."""


def pipeline() -> Any:
    return table("a: i64, d: decimal<30, 2>").filter(lambda r: r.a > 1).select("d", x=lambda r: r.a + 1)


def lacks(relation: Any, **said: Any) -> list[tuple[str, str]]:
    report = relation.to_plan().check(sd.Capabilities("acme", **{**ALL, **said}))
    assert report.undeclared == ()
    return [(str(each.requirement), each.why.removeprefix(f"{each.requirement}: ")) for each in report.missing]


def test_nothing_is_missing_where_all_is_there() -> None:
    report = pipeline().to_plan().check(sd.Capabilities("acme", **ALL))
    assert (report.missing, report.undeclared) == ((), ())
    assert (report.verdict, bool(report)) == ("runs", True)
    assert str(report).splitlines()[:2] == ["acme: runs", "shapes-unknown: unspecified as it is written"]
    lacking = pipeline().to_plan().check(sd.Capabilities("acme", **{**ALL, "relations": []}))
    assert lacking.missing
    assert (lacking.verdict, bool(lacking)) == ("refused", False)


LACKS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a version": (
        {"versions": ["0.44.0", "0.45"]},
        [("version {}.{}.{}".format(*installed_version()), 'it takes "0.44.0", "0.45"')],
    ),
    "a relation": ({"relations": ["READ", "PROJECT"]}, [("relation FILTER", "not listed")]),
    "a form": (
        {"relations": {"READ": ["LOCAL_FILES", "VIRTUAL_TABLE"], "PROJECT": None, "FILTER": None}},
        [("relation READ, NAMED_TABLE", 'it has "LOCAL_FILES", "VIRTUAL_TABLE"')],
    ),
    "an expression": (
        {"expressions": ["SELECTION", "SCALAR_FUNCTION"]},
        [("expression LITERAL", "not listed")],
    ),
    "a type": (
        {"types": ["I64", "BOOL"]},
        [("type DECIMAL, precision 30, scale 2", "not listed")],
    ),
    "digits": (
        {"types": {"I64": {}, "BOOL": {}, "DECIMAL": {"precision": 18, "scale": 2}}},
        [("type DECIMAL, precision 30, scale 2", "its precision is at most 18")],
    ),
    "as many digits": ({"types": {"I64": {}, "BOOL": {}, "DECIMAL": {"precision": 30, "scale": 2}}}, []),
    "a function": (
        {"functions": [sd.FunctionCapability(ARITHMETIC, "add")]},
        [(f"scalar function gt:any_any of {COMPARISON}", "not listed")],
    ),
    "a function of that extension": (
        {"functions": [sd.FunctionCapability(ARITHMETIC, "add"), sd.FunctionCapability("extension:acme:own", "gt")]},
        [(f"scalar function gt:any_any of {COMPARISON}", "not listed")],
    ),
    "an overload": (
        {
            "functions": [
                sd.FunctionCapability(ARITHMETIC, "add", signatures=["fp64_fp64", "i32_i32"]),
                sd.FunctionCapability(COMPARISON, "gt", signatures=["any_any"]),
            ]
        },
        [(f"scalar function add:i64_i64 of {ARITHMETIC}", 'it has "add:fp64_fp64", "add:i32_i32"')],
    ),
    "an option": (
        {
            "functions": [
                sd.FunctionCapability(ARITHMETIC, "add", options={"overflow": ("ERROR",)}),
                sd.FunctionCapability(COMPARISON, "gt", options={}),
            ]
        },
        [(f"scalar function add:i64_i64 of {ARITHMETIC}", 'it needs the option overflow, "ERROR"')],
    ),
}


@pytest.mark.parametrize(("said", "missing"), LACKS.values(), ids=LACKS)
def test_what_is_missing(said: dict[str, Any], missing: list[tuple[str, str]]) -> None:
    assert lacks(pipeline(), **said) == missing


@pytest.mark.parametrize(
    ("option", "missing"),
    [
        ("ERROR", None),
        (["SATURATE", "ERROR"], None),
        ("SILENT", 'its option overflow is "ERROR"'),
    ],
)
def test_options_of_calls(option: Any, missing: str | None) -> None:
    rows = table("a: i64").select(x=lambda r: f.add(r.a, r.a, overflow=option))
    found = lacks(rows, functions=[sd.FunctionCapability(ARITHMETIC, "add", options={"overflow": ("ERROR",)})])
    assert [reason for _, reason in found] == ([missing] if missing else [])
    ((_, reason),) = lacks(rows, functions=[sd.FunctionCapability(ARITHMETIC, "add", options={})])
    assert reason == "it takes no option overflow"


@pytest.mark.parametrize(
    ("variadic", "reason"),
    [
        (None, "it takes 1 arguments, and there are 3"),
        ((1, 2), "it takes at most 2 arguments, and there are 3"),
        ((4, None), "it takes at least 4 arguments, and there are 3"),
        ((1, 3), None),
        ((3, None), None),
    ],
)
def test_numbers_of_arguments(variadic: tuple[int, int | None] | None, reason: str | None) -> None:
    rows = table("a: boolean, b: boolean, c: boolean").filter(lambda r: r.a & r.b & r.c)
    conjunction = sd.FunctionCapability(
        "extension:io.substrait:functions_boolean", "and", signatures=["bool"], variadic=variadic
    )
    assert [each for _, each in lacks(rows, functions=[conjunction])] == ([reason] if reason else [])


def test_what_a_system_says_nothing_about_is_not_what_it_lacks() -> None:
    plan = pipeline().to_plan()
    report = plan.check(sd.Capabilities("acme", relations=["READ", "FILTER", "PROJECT"]))
    assert report.missing == ()
    assert {each.kind for each in report.undeclared} == {"version", "expression", "scalar function", "type"}
    assert report.verdict == "runs"
    assert str(report).splitlines()[:4] == [
        "acme: runs",
        "undeclared: unspecified as it is written",
        "    step: at version",
        "    why: the system says nothing about version {}.{}.{}".format(*installed_version()),
    ]
    assert str(plan.check(sd.Capabilities("acme", **{**ALL, "types": ["I64", "BOOL"]}))).splitlines()[:5] == [
        "acme: refused",
        "dialect: rejected as it is written",
        "    step: at relations[0].root.input.project.input.filter.input.read.base_schema.struct.types[1]",
        "    why: type DECIMAL, precision 30, scale 2: not listed",
        "    refused",
    ]


def test_a_kind_of_function_may_be_unsaid() -> None:
    only_scalar = sd.Capabilities(functions={"scalar function": []})
    report = table("a: i64").aggregate(x=lambda r: f.sum(r.a)).to_plan().check(only_scalar)
    assert [str(each) for each in report.undeclared if each.kind == "aggregate function"]
    assert not [each for each in report.missing if each.requirement.kind == "aggregate function"]


def test_to_take_all_relations_is_not_to_know_the_messages_of_others() -> None:
    plan = sd.extension_leaf(AnyMessage(SCAN, b""), {"a": "i64"}).to_plan()
    of_messages = ["relation", "message"]

    def said(**capabilities: Any) -> tuple[list[str], list[str]]:
        report = plan.check(sd.Capabilities("acme", **capabilities))
        missing = [each.requirement for each in report.missing if each.requirement is not None]
        return tuple([n.kind for n in found if n.kind in of_messages] for found in (missing, report.undeclared))  # type: ignore[return-value]  # a pair

    assert said(relations="all") == ([], of_messages)
    assert said(relations={"EXTENSION_LEAF": ["x/acme.Other"]}) == (["relation"], ["message"])
    assert said(relations={"EXTENSION_LEAF": [SCAN]}) == ([], [])
    assert said(messages=[]) == (["message"], ["relation"])
    assert said(messages=[SCAN]) == ([], ["relation"])


def test_types_of_extensions_are_listed_by_themselves() -> None:
    plan = sd.read_named("t", {"p": sd.UserDefined("extension:acme:geo", "point")}).to_plan()

    def said(**capabilities: Any) -> tuple[int, int]:
        report = plan.check(sd.Capabilities(versions=ALL["versions"], relations="all", **capabilities))
        return len(report.missing), len(report.undeclared)

    assert said(types="all") == (0, 1)
    assert said(types="all", user_defined_types=[("extension:acme:geo", "line")]) == (1, 0)
    assert said(types=[], user_defined_types=[("extension:acme:geo", "point")]) == (0, 0)


def test_extended_expressions_are_checked_too() -> None:
    extended = sd.ExtendedExpression({"a": "i64"}, x=lambda r: r.a + 1)
    report = extended.check(sd.Capabilities(**{**ALL, "functions": []}))
    assert [str(each.requirement) for each in report.missing] == [f"scalar function add:i64_i64 of {ARITHMETIC}"]


# --- mistakes

MISTAKES: dict[str, tuple[Callable[[], object], type[SubstraitDslError], tuple[str, ...]]] = {
    "relation": (lambda: sd.Capabilities(relations=["FILTR"]), InvalidChoiceError, ("FILTR", '"FILTER"')),
    "form": (lambda: sd.Capabilities(relations={"JOIN": ["LEFT_SEM"]}), InvalidChoiceError, ("JOIN", '"LEFT_SEMI"')),
    "no forms": (lambda: sd.Capabilities(relations={"SORT": ["ASC"]}), InvalidArgumentError, ("SORT", "no forms")),
    "one form": (lambda: sd.Capabilities(relations={"JOIN": "LEFT"}), InvalidArgumentError, ("JOIN", "'LEFT'")),
    "text": (lambda: sd.Capabilities(expressions="LITERAL"), InvalidArgumentError, ("expressions", '"all"')),
    "type": (lambda: sd.Capabilities(types=["INT64"]), InvalidChoiceError, ("INT64", '"I64"')),
    "limit": (
        lambda: sd.Capabilities(types={"DECIMAL": {"precison": 1}}),
        InvalidChoiceError,
        ("DECIMAL", "precision"),
    ),
    "no number": (lambda: sd.Capabilities(types={"DECIMAL": {"scale": "1"}}), InvalidArgumentError, ("scale", "'1'")),
    "version": (lambda: sd.Capabilities(versions=["v1"]), InvalidArgumentError, ("'v1'", "versions")),
    "function": (lambda: sd.Capabilities(functions=["add"]), InvalidArgumentError, ("'add'", "FunctionCapability")),  # type: ignore[list-item]  # wrong
    "kind": (lambda: sd.Capabilities(functions={"scalar": []}), InvalidChoiceError, ("scalar", '"scalar function"')),
    "pair": (lambda: sd.Capabilities(user_defined_types=["point"]), InvalidArgumentError, ("'point'", "URN")),  # type: ignore[list-item]  # wrong
    "signature": (lambda: sd.FunctionCapability("u", "add", signatures="i64"), InvalidArgumentError, ("'i64'",)),
    "mode": (lambda: sd.Capabilities(evaluation_modes=["per_plan"]), InvalidArgumentError, ("'per_plan'", "PER_PLAN")),
    "a path": (lambda: pipeline().to_plan().check("x.yaml"), CatalogError, ("check", "cannot read x.yaml")),
    "an engine": (lambda: pipeline().check("datafusoin"), InvalidChoiceError, ("check", '"datafusion"')),
    "a session": (lambda: pipeline().check(5), InvalidArgumentError, ("check", "datafusion", "got 5")),
    "no file": (lambda: sd.read_capabilities("/nowhere/x.yaml"), CatalogError, ("read_capabilities", "x.yaml")),
    "no path": (lambda: sd.read_capabilities(5), InvalidArgumentError, ("read_capabilities", "5")),  # type: ignore[arg-type]  # wrong
}


@pytest.mark.parametrize(("made", "error", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(made: Callable[[], object], error: type[SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        made()


# --- the message of versions before 0.82

JSON = """{
  "substraitVersions": ["0.80.0", "0.81.0"],
  "advancedExtensionTypeUrls": ["type.googleapis.com/acme.Scan"],
  "simpleExtensions": [
    {"uri": "https://github.com/substrait-io/substrait/blob/main/extensions/functions_arithmetic.yaml",
     "functionKeys": ["add:i64_i64", "subtract"], "typeKeys": ["point"], "typeVariationKeys": ["curved"]}
  ]
}"""
SAID = sd.Capabilities(
    "acme.json",
    versions=["0.80.0", "0.81.0"],
    messages=[SCAN],
    functions=[
        sd.FunctionCapability(ARITHMETIC, "add", signatures=["i64_i64"]),
        sd.FunctionCapability(ARITHMETIC, "subtract"),
    ],
    user_defined_types=[(ARITHMETIC, "point")],
    type_variations=[(ARITHMETIC, "curved")],
)


def test_the_message_in_json(tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    file.write_text(JSON, encoding="utf-8")
    assert sd.read_capabilities(file) == SAID


def test_the_message_in_its_binary_form(tmp_path: Path) -> None:
    """By the numbers of the fields: 1 versions, 2 type URLs, 3 extensions, of these 1 to 4 as in JSON."""

    def text(number: int, value: bytes) -> bytes:
        return bytes([number << 3 | 2, len(value)]) + value

    extension = (
        text(1, b"functions_arithmetic.yaml")
        + text(2, b"add:i64_i64") + text(2, b"subtract") + text(3, b"point") + text(4, b"curved")
    )  # fmt: skip
    data = text(1, b"0.80.0") + text(1, b"0.81.0") + text(2, SCAN.encode()) + text(3, extension)
    file = tmp_path / "acme.json.bin"
    file.write_bytes(data)
    read = sd.read_capabilities(str(file))
    assert read.name == "acme.json.bin"
    assert read == sd.Capabilities(
        read.name,
        versions=SAID.versions,
        messages=SAID.messages,
        functions=SAID.functions,
        user_defined_types=SAID.user_defined_types,
        type_variations=SAID.type_variations,
    )


def test_what_the_message_does_not_list_is_not_supported(tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    file.write_text(JSON, encoding="utf-8")
    report = pipeline().to_plan().check(sd.read_capabilities(file))
    assert [str(each.requirement) for each in report.missing] == [
        "version {}.{}.{}".format(*installed_version()),
        f"scalar function gt:any_any of {COMPARISON}",
    ]
    assert {each.kind for each in report.undeclared} == {"relation", "expression", "type"}
    (tmp_path / "none.json").write_text("{}")
    none = sd.read_capabilities(tmp_path / "none.json")
    assert (none.versions, none.messages, none.user_defined_types) == (None, frozenset(), frozenset())


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.json", b"{"), ("x.json", b'{"relations": []}'), ("x.json", b"\xff"), ("x.bin", b"\x0a\x05a")],
)
def test_what_is_no_message_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with refused(PlanFormatError, "read_capabilities"):
        sd.read_capabilities(tmp_path / name)


# --- dialect files

DIALECT = """
name: Acme
dependencies:
  arithmetic: extension:io.substrait:functions_arithmetic
  boolean: extension:io.substrait:functions_boolean
  geo: extension:acme:geo
supported_types:
  - I64
  - type: DECIMAL
    max_precision: 18
    system_metadata: {name: NUMERIC, supported_as_column: true}
  - {type: USER_DEFINED, source: geo, name: point}
supported_relations:
  - FILTER
  - relation: JOIN
    join_types: [INNER, LEFT]
supported_expressions:
  - expression: CAST
    failure_options: [THROW_EXCEPTION]
supported_scalar_functions:
  - source: arithmetic
    name: add
    supported_impls: [i64_i64, dec_dec]
    required_options: {overflow: ERROR}
    system_metadata: {name: +, notation: INFIX}
  - {source: boolean, name: and, supported_impls: [bool], variadic: {min: 2, max: 8}}
supported_execution_behavior:
  supported_variable_evaluation_mode: [PER_PLAN]
"""


def dialect(tmp_path: Path, text: str) -> sd.Capabilities:
    file = tmp_path / "acme.yaml"
    file.write_text(text, encoding="utf-8")
    return sd.read_capabilities(file)


def test_a_dialect_file(tmp_path: Path) -> None:
    assert dialect(tmp_path, DIALECT) == sd.Capabilities(
        "Acme",
        relations={"FILTER": None, "JOIN": ["INNER", "LEFT"]},
        expressions={"CAST": ["THROW_EXCEPTION"]},
        types={"I64": {}, "DECIMAL": {"precision": 18}},
        user_defined_types=[("extension:acme:geo", "point")],
        functions={
            "scalar function": [
                sd.FunctionCapability(
                    ARITHMETIC, "add", signatures=["i64_i64", "dec_dec"], options={"overflow": ("ERROR",)}
                ),
                sd.FunctionCapability(
                    "extension:io.substrait:functions_boolean",
                    "and",
                    signatures=["bool"],
                    options={},  # "If no options are listed here, no options must be present."
                    variadic=(2, 8),
                ),
            ]
        },
        evaluation_modes=["PER_PLAN"],
    )


@pytest.mark.parametrize("text", ["", "supported_types: []\nsupported_relations: []\nsupported_expressions: []"])
def test_a_list_that_is_not_there_or_empty_is_all(tmp_path: Path, text: str) -> None:
    """As the schema says of types, relations and expressions; of functions it does not."""
    read = dialect(tmp_path, text)
    assert read == sd.Capabilities("acme.yaml", types="all", relations="all", expressions="all", functions={})
    report = pipeline().to_plan().check(read)
    assert report.missing == ()
    assert {each.kind for each in report.undeclared} == {"version", "scalar function"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- FILTER", "- FILTR", ("supported_relations 1", "FILTR", '"FILTER"')),
        ("- I64", "- INT64", ("supported_types 1", "INT64", '"I64"')),
        ("[INNER, LEFT]", "[INNER, LEFT_SEM]", ("supported_relations 2", "join_types", '"LEFT_SEMI"')),
        ("join_types:", "join_type:", ("supported_relations 2", "join_type", '"join_types"')),
        ("max_precision", "max_scal", ("supported_types 2", "max_scal", '"max_scale"')),
        ("source: geo", "source: gee", ("supported_types 3", "gee", '"geo"')),
        ("source: arithmetic", "source: aritmetic", ("supported_scalar_functions 1", '"arithmetic"')),
        ("name: Acme", "nam: Acme", ("nam", '"name"')),
        ("[i64_i64, dec_dec]", "[]", ("supported_scalar_functions 1", "supported_impls")),
        ("[PER_PLAN]", "[PER_ROW]", ("supported_execution_behavior", "PER_ROW")),
        ("max_precision: 18", "max_precision: many", ("supported_types 2", "integer")),
        ("{overflow: ERROR}", "{overflow: {a: b}}", ("supported_scalar_functions 1", "overflow")),
        ("dependencies:", "dependencies: [", ("acme.yaml",)),
    ],
)
def test_mistakes_in_a_dialect_file(tmp_path: Path, old: str, new: str, said: tuple[str, ...]) -> None:
    assert old in DIALECT
    with refused(CatalogError, "read_capabilities", *said):
        dialect(tmp_path, DIALECT.replace(old, new))
