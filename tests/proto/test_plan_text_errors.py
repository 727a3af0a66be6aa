"""Errors of texts in the format of substrait-explain: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.plan_text.plan import read_plan, write_plan
from tests.proto.test_hostile import cheaply
from tests.proto.test_plan_text import HEAD, LINES

TEXT = HEAD + "Root[a, b]\n  Project[$0, add($0, $1):i64]\n    Read[t => a:i64, c:i64]\n"

WRONG: Mapping[str, tuple[str, str, str, str, str | None]] = {
    "a relation": (
        "Project", "Projekt", 'there is no relation "Projekt"', "line 12, column 3", 'did you mean "Project"?',
    ),
    "a type": ("c:i64", "c:i46", 'there is no type "i46"', "line 13, column 24", 'did you mean "i64"?'),
    "a function": ("add($0", "ad($0", 'there is no function "ad"', "line 12, column 15", 'did you mean "add"?'),
    "a section": (
        "=== Plan", "=== Plam", 'there is no section "=== Plam"', "line 10, column 1", 'did you mean "=== Plan"?',
    ),
    "a column": (
        "[$0, add", "[$2, add", "there is no column $2", "line 12, column 11", "there are 2 columns, $0 to $1",
    ),
    "a bracket": ("c:i64]", "c:i64", 'expected "]", got the end of the line', "line 13, column 27", None),
    "the type of a call": ("$1):i64", "$1)", 'expected ":", got "]"', "line 12, column 26", None),
    "a quote": ("Read[t", 'Read["t', 'nothing ends what the " begins', "line 13, column 10", None),
    "a comma": ("$0, $1", "$0 $1", 'expected ")", got "$"', "line 12, column 22", None),
    "more behind it": ("c:i64]", "c:i64] x", 'expected the end of the line, got "x"', "line 13, column 29", None),
    "an indent": ("    Read", "        Read", "the line stands too far in", "line 13, column 9", None),
    "half an indent": (
        "    Read", "   Read", "a line is indented by two spaces for each step", "line 13, column 3", None,
    ),
    "half an indent of a header": (
        "=== Plan", " === Plan", "a line is indented by two spaces for each step", "line 10, column 1", None,
    ),
    "an input": (
        "\n    Read[t => a:i64, c:i64]", "", "Project takes 1 input, got 0", "line 12, column 3",
        "inputs stand below, two spaces further in",
    ),
    "a URN": ("@  2: gt", "@  3: gt", "no URN is declared as 3", "line 7, column 12", None),
    "an anchor": ("# 11", "# 10", "two functions have the anchor 10", "line 7, column 12", None),
    "a literal": (
        "add($0, $1)", "add($0, 300:i8)", "values of i8 have 8 bits: 300 is too large", "line 12, column 23", None,
    ),
    "a date": (
        "add($0, $1)", "add($0, '2023-02-29':date)", "expected a date, as in '2024-01-31', got '2023-02-29'",
        "line 12, column 23", None,
    ),
    "a null": ("add($0, $1)", "add($0, null)", "null has a type behind it", "line 12, column 23", "null:i64?"),
    "a decimal": (
        "add($0, $1)", "add($0, '1.234':decimal<4, 2>)", "'1.234' has more digits than decimal<4, 2>",
        "line 12, column 23", None,
    ),
    "a decimal that is too long": (
        "add($0, $1)", f"add($0, '{'9' * 39}':decimal<39, 0>)",
        "a decimal has a precision of 1 to 38, and no larger scale, got decimal<39, 0>", "line 12, column 23", None,
    ),
    "a decimal of more places than digits": (
        "add($0, $1)", "add($0, '0':decimal<2, 3>)",
        "a decimal has a precision of 1 to 38, and no larger scale, got decimal<2, 3>", "line 12, column 23", None,
    ),
    "an escape": (
        "add($0, $1)", r"add($0, 'a\\\n\u{1b}[31m')", r"there is no escape \u", "line 12, column 29",
        r"all characters stand as they are, but \n, \r and \t, and \\ for a backslash",
    ),
    "an escape in a name": (
        "Read[t", r'Read["\0"', r"there is no escape \0", "line 13, column 11",
        r"all characters stand as they are, but \n, \r and \t, and \\ for a backslash",
    ),
    "no grouping sets": (
        "Project[$0, add($0, $1):i64]", "Aggregate[,,, => $0]", 'expected an expression, got ","',
        "line 12, column 13", None,
    ),
    "a comma behind a grouping set": (
        "Project[$0, add($0, $1):i64]", "Aggregate[($0), => $0]", 'expected a grouping set, got "=>"',
        "line 12, column 19", None,
    ),
    "a comma in front of a grouping set": (
        "Project[$0, add($0, $1):i64]", "Aggregate[, ($0) => $0]", 'expected an expression, got ","',
        "line 12, column 13", None,
    ),
    "a set and an expression": (
        "Project[$0, add($0, $1):i64]", "Aggregate[($0), $1 => $0, $1]", 'expected a grouping set, got "$"',
        "line 12, column 19", None,
    ),
    "rows behind none": (
        "Read[t => a", "Read:Virtual[_, (1, 2) => a", 'expected the name of an argument, got "("',
        "line 13, column 21", None,
    ),
    "a line behind a comment": (
        "c:i64]", "c:i64] // table\n      - b:i64", 'expected the end of the line, got "-"', "line 14, column 7", None,
    ),
    "a line behind a bracket": (
        "c:i64]", "c:i64]\n      - b:i64", 'expected the end of the line, got "-"', "line 14, column 7", None,
    ),
    "a column that is no number": (
        "$0, add", "$\u0661, add", 'expected the number of a column, got "\u0661"', "line 12, column 12", None,
    ),
    "a struct without names": (
        "c:i64", "c:list<struct<i64>>", "in a column of a read, the fields of a struct have names",
        "line 13, column 29", "nstruct<x:i64, y:string?>, and ? before the <",
    ),
    "names of fields elsewhere": (
        "add($0, $1)", "null:nstruct?<x:i64>", "fields of structs have names in columns of reads alone",
        "line 12, column 20", "struct<i64, string?>",
    ),
    "a field without a type": ("c:i64", "c:nstruct<x>", 'expected ":", got ">"', "line 13, column 33", None),
    "what is no literal": (
        "add($0, $1)", "add($0, 'x':uuid)", "the format has no literals of uuid", "line 12, column 23", None,
    ),
}  # fmt: skip
"""Changes of the text, and the error: what it says, where, and what to do about it."""


@pytest.mark.parametrize("name", WRONG)
def test_errors_say_what_is_wrong_and_where(name: str) -> None:
    old, new, message, path, hint = WRONG[name]
    assert old in TEXT
    with pytest.raises(PlanFormatError) as caught:
        sd.Plan.from_text(TEXT.replace(old, new))
    assert (caught.value.message.partition(", in the line")[0].startswith(message), caught.value.path) == (True, path)
    assert caught.value.hint == hint
    assert caught.value.verb == "from_text"


def test_rules_of_plans_name_the_line() -> None:
    with pytest.raises(PlanFormatError, match="a root has 1 names") as caught:
        sd.Plan.from_text(TEXT.replace("Root[a, b]", "Root[a]"))
    assert caught.value.path == "line 11, relations[0].root"
    with pytest.raises(PlanFormatError, match="there is no column 5") as caught:
        sd.Plan.from_text(TEXT.replace("$1):i64", "$5):i64"))
    assert (caught.value.path or "").startswith("line 12, relations[0].root.input.project.expressions[0]")


@pytest.mark.parametrize(
    ("lines", "error", "path"),
    [
        ("  producer: x\n    - y\n", 'expected the end of the line, got "-"', "line 3, column 5"),
        ("  producer: x\n  producer: y\n", "the plan says its producer twice", "line 3, column 3"),
        ("  producer:\n  git_hash: 1\n  producer: y\n", "the plan says its producer twice", "line 4, column 3"),
    ],
)
def test_what_a_plan_says_of_its_producer_is_read_once(lines: str, error: str, path: str) -> None:
    with pytest.raises(PlanFormatError, match=error) as caught:
        sd.Plan.from_text(f"=== Version 0.106.0\n{lines}{TEXT}")
    assert caught.value.path == path


@pytest.mark.parametrize(
    "literal",
    [f"'{'9' * 5000}':decimal<9999, 0>", "'0.1':decimal<100000, 100000>", "'0.5':decimal<2147483647, 2147483647>"],
)
def test_decimals_are_measured_before_they_are_read(literal: str) -> None:
    with cheaply(), pytest.raises(PlanFormatError, match="a decimal has a precision of 1 to 38"):
        sd.Plan.from_text(TEXT.replace("add($0, $1)", f"add($0, {literal})"))


def test_zeros_in_front_of_an_integer_mean_nothing() -> None:
    zeros = "0" * 30
    old = ("$0, add($0, $1)", "# 10", "a:i64")
    new = (f"${zeros}, add($0, {zeros}5)", f"# {zeros}10", f"a:varchar<{zeros}3>")
    wanted, text = TEXT.replace("$1)", "5)").replace("a:i64", "a:varchar<3>"), TEXT
    for each, other in zip(old, new, strict=True):
        text = text.replace(each, other)
    assert read_plan(text)[0] == read_plan(wanted)[0]


DAMAGE = ["", "]", "[", '"', "'", "\\", "\n", "  ", "$", "9" * 5000, "(" * 300, "=>", "?", "<", ":", "\ud800", "#", "@"]


def test_damaged_texts_are_refused_by_errors_of_the_tree() -> None:
    text = LINES["a join with a filter behind it"][0].to_plan().to_text() + "\n" + TEXT.partition("=== Plan\n")[2]
    for position in range(0, len(text), 7):
        for damage in DAMAGE:
            damaged = text[:position] + damage + text[position + 1 :]
            with suppress(SubstraitDslError):
                sd.Plan.from_text(damaged)


def test_deep_texts_are_refused() -> None:
    nested = TEXT.replace("add($0, $1)", "(" * 200 + "$0" + ")::i64" * 200)
    deep = (
        "=== Plan\n" + "".join(f"{'  ' * n}Filter[true => $0]\n" for n in range(99)) + "  " * 99 + "Read[t => a:i64]\n"
    )
    cast = "(" * 90 + "$0" + ")::i64" * 90
    for text, message in (
        (nested, "inside more than 100 others"),
        (deep, "more than 100 deep"),
        *(
            (f"{HEAD}{line}\n  Read[t => a:i64]\n", "more than 100 deep")
            for line in (
                f"Aggregate[{cast} => ]",
                f"Aggregate[_ => sum({cast}):i64]",
                f"Aggregate[add({cast}, 1):i64 => ]",
            )
        ),
    ):
        with pytest.raises(PlanFormatError, match=message):
            sd.Plan.from_text(text)


SUBQUERY = (
    HEAD.replace(
        "Functions:", "  @  3: extension:substrait_dsl:plan_text\nFunctions:\n  # 13 @  3: exists\n  # 14 @  3: near"
    ).replace("\n=== Plan", "Types:\n  #  1 @  3: derived\n\n=== Plan")
    + "Root[a]\n  Filter[exists(1):derived => $0]\n    Read[t => a:i64]\n\nRead[u => b:i64]\n"
)


def test_subqueries_are_trees_behind_those_of_the_plan() -> None:
    table = sd.read_named("t", {"a": "i64"})
    other = sd.read_named("u", {"b": "i64"})
    assert sd.Plan.from_text(SUBQUERY) == table.filter(lambda t: sd.exists(other)).to_plan()
    for new, message, column in (
        ("exists(0):derived", "tree 0 of the text is the plan's own, or of another subquery", 17),
        ("exists(2):derived", "tree 2 of the text is no tree", 17),
        ("exists($0):derived", 'expected the number of a tree, got "$"', 17),
        ("exists(1):derived?", "the type of a call of extension:substrait_dsl:plan_text is its derived", 20),
        ("exists(1):derived<i64>", "the type of a call of extension:substrait_dsl:plan_text is its derived", 20),
        ("exists(1):boolean", "the type of a call of extension:substrait_dsl:plan_text is its derived", 20),
        ("near(1):derived", 'there is no function of this library "near"', 14),
        ("if_then(exists(1):derived -> true, _ -> exists(1):derived)", "tree 1 of the text is the plan's own", 57),
    ):
        with pytest.raises(PlanFormatError) as caught:
            sd.Plan.from_text(SUBQUERY.replace("exists(1):derived", new))
        assert caught.value.message.startswith(message)
        assert caught.value.path == f"line 17, column {column}"


def test_the_extension_of_texts_is_of_no_plan() -> None:
    """A plan with its functions means other ones by them: nobody else has these."""
    message, _ = read_plan(HEAD + "Root[a]\n  Project[add($0, $0):i64]\n    Read[t => a:i64]\n")
    message.extension_urns[0].urn = "extension:substrait_dsl:plan_text"
    with pytest.raises(UnsupportedError, match="whose functions stand for other things in a text") as refused:
        write_plan(message)
    assert refused.value.path == "extension_urns[0]"


def test_names_of_the_plan_that_are_words_of_texts_have_anchors() -> None:
    text = SUBQUERY.replace("  # 12 @  1: sum:i64", "  # 12 @  1: exists").replace(
        "exists(1):derived", "if_then(exists#12($0):boolean -> exists#13(1):derived, _ -> true)"
    )
    plan = sd.Plan.from_text(text)
    assert "if_then(exists#1($0):boolean -> exists#2(1):derived, _ -> true)" in plan.to_text()
    assert sd.Plan.from_text(plan.to_text()) == plan


@pytest.mark.parametrize(
    ("old", "new", "what", "path"),
    [
        ("    Read[t", "    + Opt:Hint['x']\n    Read[t", "messages of extensions", "line 13, column 5"),
        ("Project", "ExtensionSingle:Sample", "relations of extensions", "line 12, column 3"),
        ("Read[t => a:i64, c:i64]", "Read:Extension[a:i64]", "relations of extensions", "line 13, column 5"),
    ],
)
def test_extensions_of_the_format_are_refused_by_name(old: str, new: str, what: str, path: str) -> None:
    with pytest.raises(UnsupportedError, match=f"from_text: there is no place for {what}") as caught:
        sd.Plan.from_text(TEXT.replace(old, new))
    assert caught.value.path == path
