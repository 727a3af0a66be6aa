"""Plans in the text format of substrait-explain: what is written is read back, and all else is refused by name.

What the program itself makes of these texts: `tests/producers/test_substrait_explain.py`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from substrait.plan_pb2 import Plan as Message

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from substrait_dsl.proto.plan_text.plan import from_text, read_plan, to_text, write_plan
from tests.conftest import SHARED
from tests.differential.pipelines import pipeline
from tests.differential.test_pipelines import SEED
from tests.proto import corpus
from tests.proto.plans import plan_of
from tests.proto.text_plans import as_text_says

EXAMPLES = Path(__file__).parent / "substrait_explain"
"""Texts of substrait-explain: its example plans and those of its grammar."""

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64?", "price": "fp64?"})
PEOPLE = sd.read_named(("crm", "people"), {"key": "i64", "name": "string"})

HEAD = """\
=== Extensions
URNs:
  @  1: extension:io.substrait:functions_arithmetic
  @  2: extension:io.substrait:functions_comparison
Functions:
  # 10 @  1: add:i64_i64
  # 11 @  2: gt:any_any
  # 12 @  1: sum:i64

=== Plan
"""


def says(plan: AlgebraPlan) -> str:
    """The text of a plan, which is read back as an equal plan."""
    text = to_text(plan)
    again, _ = from_text(text)
    assert as_text_says(again) == as_text_says(plan), text
    return text


def tree(text: str) -> list[str]:
    """The lines of the section of the plan."""
    return text.partition("=== Plan\n")[2].splitlines()


# --- the texts


def test_a_plan_is_a_line_for_each_relation() -> None:
    """As ``GRAMMAR.md`` says: names, columns by their numbers, the type of each call."""
    plan = ORDERS.filter(lambda o: o.price > 5.0).project(twice=lambda o: o.price * 2.0).sort("id").fetch(3, 1)
    assert plan.to_plan().to_text().splitlines() == [
        "=== Version 0.106.0",
        f"  producer: {plan.to_plan().to_proto().version.producer}",
        "=== Extensions",
        "URNs:",
        "  @  1: extension:io.substrait:functions_comparison",
        "  @  2: extension:io.substrait:functions_arithmetic",
        "Functions:",
        "  #  1 @  1: gt:any_any",
        "  #  2 @  2: multiply:fp64_fp64",
        "",
        "=== Plan",
        "Root[id, customer, price, twice]",
        "  Fetch[limit=3, offset=1 => $0, $1, $2, $3]",
        "    Sort[($0, &AscNullsFirst) => $0, $1, $2, $3]",
        "      Project[$0, $1, $2, multiply($2, 2.0):fp64?]",
        "        Filter[gt($2, 5.0):boolean? => $0, $1, $2]",
        "          Read[orders => id:i64, customer:i64?, price:fp64?]",
    ]


LINES: Mapping[str, tuple[Any, list[str]]] = {
    "an emit of a read": (
        ORDERS.select("price", "id"),
        ["Read[orders +> id:i64, customer:i64?, price:fp64? |> $2, $0]"],
    ),
    "an emit of a filter": (
        ORDERS.filter(lambda o: o.id > 1).select("price"),
        ["Filter[gt($0, 1):boolean => $2]", "  Read[orders => id:i64, customer:i64?, price:fp64?]"],
    ),
    "a computed column alone": (
        PEOPLE.select(more=lambda p: p.key + 1),
        ["Project[add($0, 1):i64]", "  Read[crm.people => key:i64, name:string]"],
    ),
    "a computed column twice": (
        PEOPLE.project(more=lambda p: p.key + 1).emit([2, 2]),
        ["Project[$2, $2]", "  Project[$0, $1, add($0, 1):i64]", "    Read[crm.people => key:i64, name:string]"],
    ),
    "a computed column that nobody puts out": (
        PEOPLE.project(more=lambda p: p.key + 1).emit([0]),
        ["Project[$0]", "  Project[$0, $1, add($0, 1):i64]", "    Read[crm.people => key:i64, name:string]"],
    ),
    "structs": (
        sd.read_named("t", {"s": "nstruct<a: i64, b: list<nstruct<c: i8>>>?", "m": "map<i8, nstruct<c: i8>>"}).emit(
            [1, 0]
        ),
        [
            "Read[t +> s:nstruct?<a:i64, b:list<nstruct<c:i8>>>, m:map<i8, nstruct<c:i8>> |> $1, $0]",
        ],
    ),
    "a struct of no fields": (sd.read_named("t", {"s": sd.Struct(())}), ["Read[t => s:nstruct<>]"]),
    "no columns": (PEOPLE.emit([]), ["Read[crm.people +> key:i64, name:string |> ]"]),
    "an aggregate": (
        PEOPLE.aggregate("name", n=lambda p: f.count(), most=lambda p: f.max(p.key)),
        [
            "Aggregate[$1 => $1, count():i64, max($0):i64?]",
            "  Read[crm.people => key:i64, name:string]",
        ],
    ),
    "an aggregate of all rows": (
        PEOPLE.aggregate(n=lambda p: f.sum(p.key)),
        ["Aggregate[_ => sum($0):i64?]", "  Read[crm.people => key:i64, name:string]"],
    ),
    "measures in another order": (
        PEOPLE.aggregate(n=lambda p: f.sum(p.key), m=lambda p: f.max(p.key)).emit([1, 0]),
        [
            "Project[$1, $0]",
            "  Aggregate[_ => sum($0):i64?, max($0):i64?]",
            "    Read[crm.people => key:i64, name:string]",
        ],
    ),
    "groups by a cast": (
        PEOPLE.aggregate(lambda p: p.key.cast(sd.I32)),
        ["Aggregate[(($0)::!i32) => ($0)::!i32]", "  Read[crm.people => key:i64, name:string]"],
    ),
    "a sort": (
        PEOPLE.sort(sd.desc("name", nulls="last"), "key"),
        [
            "Sort[($1, &DescNullsLast), ($0, &AscNullsFirst) => $0, $1]",
            "  Read[crm.people => key:i64, name:string]",
        ],
    ),
    "a join": (
        PEOPLE.join(ORDERS, lambda p, o: p.key == o.customer, how="left_semi"),
        [
            "Join[&LeftSemi, equal($0, $3):boolean? => $0, $1]",
            "  Read[crm.people => key:i64, name:string]",
            "  Read[orders => id:i64, customer:i64?, price:fp64?]",
        ],
    ),
    "a join with a filter behind it": (
        PEOPLE.join(ORDERS, lambda p, o: p.key == o.id, how="right", post_filter=lambda r: r.price > 1.0),
        [
            "Join[&Right, equal($0, $2):boolean, post_filter=gt($4, 1.0):boolean? => $0, $1, $2, $3, $4]",
            "  Read[crm.people => key:i64, name:string]",
            "  Read[orders => id:i64, customer:i64?, price:fp64?]",
        ],
    ),
    "a mark join": (
        PEOPLE.join(ORDERS, lambda p, o: p.key == o.id, how="right_mark"),
        [
            "Join[&RightMark, equal($0, $2):boolean => $0, $1, $2, $3]",
            "  Read[crm.people => key:i64, name:string]",
            "  Read[orders => id:i64, customer:i64?, price:fp64?]",
        ],
    ),
    "a set operation": (
        PEOPLE.union_all(PEOPLE, PEOPLE),
        ["Set[&UnionAll => $0, $1]", *["  Read[crm.people => key:i64, name:string]"] * 3],
    ),
    "a cross product": (
        PEOPLE.cross(PEOPLE).emit([0, 3]),
        ["Cross[$0, $3]", *["  Read[crm.people => key:i64, name:string]"] * 2],
    ),
    "few rows": (
        sd.read_virtual([(1, "a"), (2, None)], {"n": "i64", "s": "string?"}),
        ["Read:Virtual[(1, 'a':string?), (2, null:string?) => n:i64, s:string?]"],
    ),
    "rows in lines": (
        sd.read_virtual([(1,), (2,), (3,)], {"n": "i8"}),
        ["Read:Virtual[", "  - (1:i8),", "  - (2:i8),", "  - (3:i8)", "  - => n:i8]"],
    ),
    "no rows": (sd.read_virtual([], {"n": "i8"}), ["Read:Virtual[_ => n:i8]"]),
    "IN": (
        PEOPLE.filter(lambda p: p.name.is_in(["a", "b"])),
        ["Filter[in_list($1, 'a', 'b'):derived => $0, $1]", "  Read[crm.people => key:i64, name:string]"],
    ),
    "a scalar subquery": (
        PEOPLE.select(x=lambda p: sd.scalar_subquery(ORDERS.aggregate(n=lambda o: f.max(o.id)))),
        [
            "Project[scalar_subquery(1):derived]",
            "  Read[crm.people => key:i64, name:string]",
            "",
            "Aggregate[_ => max($0):i64?]",
            "  Read[orders => id:i64, customer:i64?, price:fp64?]",
        ],
    ),
    "subqueries in each other": (
        PEOPLE.filter(
            lambda p: sd.exists(
                ORDERS.filter(
                    lambda o: (o.id == p.key) & o.customer.is_in(PEOPLE.filter(lambda q: q.key < p.key).select("key"))
                )
            )
        ),
        [
            "Filter[exists(1):derived => $0, $1]",
            "  Read[crm.people => key:i64, name:string]",
            "",
            "Filter[and(equal($0, outer(1, $0):derived):boolean, in_subquery(2, $1):derived):boolean? => $0, $1, $2]",
            "  Read[orders => id:i64, customer:i64?, price:fp64?]",
            "",
            "Filter[lt($0, outer(2, $0):derived):boolean => $0]",
            "  Read[crm.people => key:i64, name:string]",
        ],
    ),
    "a comparison with all rows": (
        PEOPLE.filter(lambda p: p.key > sd.all_of(ORDERS.select("id"))),
        [
            "Filter[all_gt(1, $0):derived => $0, $1]",
            "  Read[crm.people => key:i64, name:string]",
            "",
            "Read[orders +> id:i64, customer:i64?, price:fp64? |> $0]",
        ],
    ),
    "measures of some values": (
        PEOPLE.aggregate(n=lambda p: f.count(p.name).distinct().filter(p.key > 1)),
        [
            "Aggregate[_ => filtered(distinct(count($1):i64):derived, gt($0, 1):boolean):derived]",
            "  Read[crm.people => key:i64, name:string]",
        ],
    ),
    "an emit of rows": (
        sd.read_virtual([(1, True)], {"n": "i64", "b": "boolean"}).select("b"),
        ["Project[$1]", "  Read:Virtual[(1, true) => n:i64, b:boolean]"],
    ),
}
"""Relations, and the lines below the root."""


@pytest.mark.parametrize("name", LINES)
def test_lines_of_relations(name: str) -> None:
    relation, lines = LINES[name]
    written = tree(says(plan_of(relation._rel)))
    below = written[1:].index("") + 1 if "" in written else len(written)
    assert [line[2:] if number < below - 1 else line for number, line in enumerate(written[1:])] == lines
    assert sd.Plan.from_text(relation.to_plan().to_text()) == relation.to_plan()


EXPRESSIONS: Mapping[str, Any] = {
    "($0)::?i8?": lambda p: p.key.cast("i8?", on_failure="return_null"),
    "if_then(gt($0, 1):boolean -> 'more', equal($0, 1):boolean -> $1, _ -> 'less')": lambda p: (
        sd.when(p.key > 1).then("more").when(p.key == 1).then(p.name).otherwise("less")
    ),
    "add($0, 1, overflow⇒[SILENT, ERROR]):i64": lambda p: f.add(p.key, 1, overflow=("SILENT", "ERROR")),
    "extract(&YEAR, '2024-02-29':date):i64": lambda p: f.extract("YEAR", sd.lit(dt.date(2024, 2, 29), "date")),
    "null:list?<list?<i64?>>": lambda p: sd.lit(None, "list<list<i64?>?>?"),
}
"""Expressions over people, by their texts."""


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str) -> None:
    relation = PEOPLE.select(x=EXPRESSIONS[text])
    assert tree(says(plan_of(relation._rel)))[1] == f"  Project[{text}]"


VALUES: Mapping[str, tuple[Any, str]] = {
    "true": (True, "boolean"),
    "-128:i8": (-128, "i8"),
    "32767:i16?": (32767, "i16?"),
    "-2147483648:i32": (-(2**31), "i32"),
    "-9223372036854775808": (-(2**63), "i64"),
    "0.1:fp32": (0.1, "fp32"),
    "16777216.0:fp32": (2.0**24, "fp32"),
    "-0.0": (-0.0, "fp64"),
    "1000000000000000000000000000000.0": (1e30, "fp64"),
    f"0.{'0' * 323}5": (5e-324, "fp64"),
    "'1969-12-31':date": (dt.date(1969, 12, 31), "date"),
    "'1000-01-01':date?": (dt.date(1000, 1, 1), "date?"),
    "'23:59:59':precisiontime<0>": (dt.time(23, 59, 59), "precision_time<0>"),
    "'00:00:00.000001':precisiontime<6>": (dt.time(microsecond=1), "precision_time<6>"),
    "'1969-12-31T23:59:59.999':precisiontimestamp<3>": (
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
        "precision_timestamp<3>",
    ),
    "'2024-02-29T12:00:00.000000':precisiontimestamptz?<6>": (
        dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC),
        "precision_timestamp_tz<6>?",
    ),
    "'0.05':decimal<3, 2>": (Decimal("0.05"), "decimal<3,2>"),
    "'-12':decimal<3, 0>": (-12, "decimal<3,0>"),
    f"'-{'9' * 38}':decimal<38, 0>": (-(10**38) + 1, "decimal<38,0>"),
    "'ab':varchar?<3>": ("ab", "varchar<3>?"),
    "'ab':fixedchar<2>": ("ab", "fixedchar<2>"),
}
"""Values and their types, by the text of the literal."""


@pytest.mark.parametrize("text", VALUES)
def test_literals(text: str) -> None:
    value, type_ = VALUES[text]
    relation = PEOPLE.select(x=lambda p: sd.lit(value, type_))
    assert tree(says(plan_of(relation._rel)))[1] == f"  Project[{text}]"


DAYS: Mapping[str, tuple[int, int, int, int]] = {
    "'5d 3s 100ms':interval_day<3>": (5, 3, 100, 3),
    "'-5d':interval_day<0>": (-5, 0, 0, 0),
    "'1us':interval_day<6>": (0, 0, 1, 6),
    "'0s':interval_day<9>": (0, 0, 0, 9),
}
"""Days, seconds, fractions and the precision, by the texts that ``GRAMMAR.md`` has for them."""


@pytest.mark.parametrize("text", DAYS)
def test_intervals(text: str) -> None:
    message, _ = read_plan(f"=== Plan\nProject[{text}]\n  Read[t => a:i64]\n")
    value = message.relations[0].rel.project.expressions[0].literal.interval_day_to_second
    assert (value.days, value.seconds, value.subseconds, value.precision) == DAYS[text]
    assert f"Project[{text}]" in write_plan(message)


HOSTILE = [
    '"', "'", "\\", "\\n", "a\nb", "a\r\nb", "\t", "\0", "\x1b[31m", "\u2028", "\x0b\x0c\x1c\x85", " ", "", "]", "=> x",
    "// no comment", "- => x", "=== Plan", "$0", "é", "\u202e", "😀", "\\'", "true", "_", "a.b", "0x",
]  # fmt: skip
"""What names and texts may be."""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_texts(name: str) -> None:
    other = name + "x"
    table = sd.read_named(("t", other), {name: "string", other: "i64"})
    rows = sd.read_virtual([(name, 1)] * 3, {name: "string", other: "i64"})
    relation = table.filter(lambda t: sd.col(0) == name).union_all(rows)
    assert sd.Plan.from_text(relation.to_plan().to_text()) == relation.to_plan()
    assert tree(relation.to_plan().to_text())[0].startswith("Root[")


# --- texts of others


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.substrait")), ids=lambda path: path.stem)
def test_examples_of_the_program_come_back_as_they_are(path: Path) -> None:
    """They are in the form that the program writes, but for projects of all columns, which are read as nothing."""
    text = path.read_text(encoding="utf-8")
    message, _ = read_plan(text)
    assert write_plan(message).rstrip() == without_projects_of_all(text).rstrip()


def without_projects_of_all(text: str) -> str:
    """The text without projects that pass on $0, $1 and so on, above reads and filters of as many columns."""
    lines: list[str] = []
    inside: int | None = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if inside is not None and indent <= inside:
            inside = None
        columns = re.fullmatch(r" *Project\[((?:\$\d+(?:, )?)*)\]", line)
        if columns and columns[1].split(", ") == [f"${n}" for n in range(columns[1].count("$"))]:
            inside = indent
        else:
            lines.append(line if inside is None else line[2:])
    return "\n".join(lines)


def test_other_spellings_are_read() -> None:
    """What ``GRAMMAR.md`` allows beside the form that is written."""
    text = HEAD + (
        "Root[a, b, c]   // the result\n"
        "\n"
        "  Project[$0, ( $1 ) ::? i8?, add#10@1($0,1:i64):i64]\n"
        "    Read:Virtual[\r\n"
        "      - (1, 2),   (3, 4)  ,\n"
        "      - filter = gt($0, 0):boolean\n"
        '      - => a:i64, "b":I64]\n'
    )
    plan = sd.Plan.from_text(text)
    assert plan.roots[0].columns == ("a", "b", "c")
    assert tree(plan.to_text()) == [
        "Root[a, b, c]",
        "  Project[$0, ($1)::?i8?, add($0, 1):i64]",
        "    Read:Virtual[(1, 2), (3, 4), filter=gt($0, 0):boolean => a:i64, b:i64]",
    ]
    assert sd.Plan.from_text(plan.to_text()) == plan


def test_names_are_looked_up_as_far_as_they_are_clear() -> None:
    text = (
        HEAD.replace("  # 12", "  #  7 @  1: add:i8_i8\n  # 12") + "Root[x]\n  Project[{}:i64]\n    Read[t => a:i64]\n"
    )
    wanted = read_plan(text.format("add#10($0, $0)"))[0]
    for spelling in ("add:i64_i64($0, $0)", "add:i64_i64#10($0, $0)", "add#10@1($0, $0)"):
        assert read_plan(text.format(spelling))[0] == wanted
    with pytest.raises(PlanFormatError, match='2 functions are called "add"') as caught:
        sd.Plan.from_text(text.format("add($0, $0)"))
    assert caught.value.hint == "say which: add:i8_i8#7, add:i64_i64#10"


def test_former_types_mean_microseconds() -> None:
    plan = sd.Plan.from_text("=== Plan\nRoot[a, b, c]\n  Read[t => a:timestamp?, b:time, c:timestamp_tz]\n")
    columns = {field.name: str(field.type) for field in plan.roots[0].schema}
    assert columns == {
        "a": "precision_timestamp<6>?",
        "b": "precision_time<6>",
        "c": "precision_timestamp_tz<6>",
    }


# --- every plan is written, or refused by name


def test_plans_come_back_or_are_refused() -> None:
    plans = [*corpus.tpch(), *corpus.drawn(), *corpus.whole(), *(plan_of(pipeline(SEED, n)._rel) for n in range(300))]
    counted: Counter[str] = Counter()
    for plan in plans:
        why = refusal(plan)
        assert why is None or why.startswith("the text format has no place for "), why
        counted["equal" if why is None else "refused"] += 1
    assert counted["equal"] > len(plans) // 12


def test_queries_of_tpch() -> None:
    said = {f"q{number:02}": refusal(plan) for number, plan in enumerate(corpus.tpch(), start=1)}
    assert {name: why for name, why in said.items() if why is not None} == {}


@pytest.mark.usefixtures("shared")
def test_plans_of_others() -> None:
    """Of the queries of TPC-H, too; one of them is not read."""
    paths = sorted((SHARED / "third_party_plans" / "plans").glob("*.json"))
    read = {path.stem: sd.Plan.load(path)._algebra for path in paths if path.stem != "validate_q01"}
    said = {name: refusal(plan) for name, plan in read.items()}
    assert {name: why for name, why in said.items() if why is not None} == {}


def refusal(plan: AlgebraPlan) -> str | None:
    """Why a plan has no text; None if it has one, which is read back."""
    try:
        says(plan)
    except UnsupportedError as error:
        return error.message
    return None


REFUSED: Mapping[str, tuple[Any, str, str]] = {
    "a window": (
        lambda: PEOPLE.window(order_by="key", n=lambda p: f.row_number()),
        "relations of kind window",
        "relations[0].root.input",
    ),
    "a sorted measure": (
        lambda: PEOPLE.aggregate(n=lambda p: f.string_agg(p.name, ",").order_by("key")),
        "sorts of a measure",
        "relations[0].root.input.aggregate.measures[0].measure",
    ),
    "a hint": (
        lambda: PEOPLE.hint(row_count=5.0),
        "hint of a relation of kind read",
        "relations[0].root.input.read.common",
    ),
    "a filter of a read": (
        lambda: sd.read_named("t", {"s": "i64"}, filter=lambda t: t.s > 1),
        "filter of a read of a named table",
        "relations[0].root.input.read",
    ),
    "a relation of an extension": (
        lambda: PEOPLE.simple_capture(),
        "relations of kind extension_single, of type.googleapis.com/google.protobuf.Struct",
        "relations[0].root.input",
    ),
    "the number of the grouping set": (
        lambda: PEOPLE.group_by("key", "name").cube(n=lambda p: f.count()),
        "the number of the grouping set, which an aggregate of several sets puts out",
        "relations[0].root.input.aggregate",
    ),
    "no number": (
        lambda: PEOPLE.select(x=lambda p: sd.lit(float("nan"), "fp64")),
        "the number nan",
        "relations[0].root.input.project.expressions[0].literal",
    ),
    "bytes": (
        lambda: PEOPLE.select(x=lambda p: sd.lit(b"x", "binary")),
        "literals of binary",
        "relations[0].root.input.project.expressions[0].literal",
    ),
}
"""Relations, what of them the format has no place for, and where that is."""


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_and_where(name: str) -> None:
    build, what, path = REFUSED[name]
    with pytest.raises(
        UnsupportedError, match=re.escape(f"to_text: the text format has no place for {what}")
    ) as caught:
        build().to_plan().to_text()
    assert caught.value.path == path
    assert sd.Plan.from_json(build().to_plan().to_json()) == build().to_plan()  # as the hint says


SAID = frozenset({"Aggregate", "Cross", "Emit", "Fetch", "Filter", "Join", "Project", "Read", "Set", "Sort"})
"""The relations that the format has a line for."""

RELATIONS = (*corpus.reads(), *corpus.rows(), *corpus.several(), *corpus.changes())


def relation_classes(base: type[Rel] = Rel) -> Iterator[str]:
    """The names of the relations of the algebra."""
    for each in base.__subclasses__():
        if each.__module__.startswith("substrait_dsl.algebra.relations") and each.__name__[0] != "_":
            yield each.__name__
        yield from relation_classes(each)


@pytest.mark.parametrize("name", sorted({*relation_classes(), *(type(each).__name__ for each in RELATIONS)}))
def test_every_relation_has_a_line_or_is_refused_by_its_kind(name: str) -> None:
    """One that has a line comes back; another is refused with its kind, its place, and what has a place for it."""
    written = [node for relation, _ in LINES.values() for node in walk(relation._rel) if isinstance(node, Rel)]
    closed = [each for each in (*RELATIONS, *written) if not each.free_anchors]
    examples = [plan_of(each) for each in closed if type(each).__name__ == name]
    reasons = [refusal(each) for each in examples]
    assert reasons
    assert (None in reasons) is (name in SAID)
    for plan in examples if name not in SAID else ():
        with pytest.raises(UnsupportedError) as caught:
            to_text(plan)
        data = to_bytes(encode_plan(plan))
        kind = Message.FromString(data).relations[0].root.input.WhichOneof("rel_type")
        assert f"relations of kind {kind}" in caught.value.message
        assert caught.value.path == "relations[0].root.input"
        assert caught.value.hint is not None
        assert caught.value.hint.startswith("to_bytes has a place for everything")
        assert to_bytes(encode_plan(from_bytes(data)[0])) == data


def test_several_sets_without_their_number_come_back() -> None:
    sets = PEOPLE.group_by("key", "name").cube(n=lambda p: f.count()).emit([0, 1, 2])
    text = sets.to_plan().to_text()
    assert "Aggregate[($0, $1), ($0), ($1), _ => $0, $1, count():i64]" in text
    assert sd.Plan.from_text(text) == sets.to_plan()


def test_what_a_plan_says_beside_its_trees_is_refused() -> None:
    for plan, field in (
        (sd.Plan(PEOPLE, expected_type_urls=("type.example/acme.Hint",)), "expected_type_urls"),
        (sd.Plan(PEOPLE, type_aliases=("i64",)), "type_aliases"),
        (sd.Plan(PEOPLE, evaluation_mode="per_record"), "variables that are evaluated for each record"),
    ):
        with pytest.raises(UnsupportedError, match=field):
            plan.to_text()


def test_bytes_that_are_text_are_read(tmp_path: Path) -> None:
    plan = ORDERS.limit(1).to_plan()
    path = tmp_path / "orders.txt"
    path.write_text("\ufeff" + plan.to_text(), encoding="utf-8")
    assert sd.Plan.load(path) == plan
    with pytest.raises(PlanFormatError, match="the text format has plans only") as caught:
        sd.ExtendedExpression.load(path)
    assert caught.value.hint == "read it with Plan.load"
    path.write_bytes(plan.to_text().encode() + b"\xff")
    with pytest.raises(PlanFormatError, match="the text of the plan is no UTF-8"):
        sd.Plan.load(path)
    with pytest.raises(UnsupportedError, match="more than 10 bytes"):
        sd.Plan.from_text(plan.to_text(), max_bytes=10)
    assert to_bytes(sd.Plan.from_text(plan.to_text()).to_proto()) == plan.to_bytes()
