"""What an error is about is in its fields; its text is made of them, and nothing in the library reads it again."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import errors
from substrait_dsl.errors import Difference, SubstraitDslError
from substrait_dsl.fluent.column_arguments import Role
from tests.support import f, table

ROOT = Path(__file__).parent.parent / "substrait_dsl"

T = table("id: i64, name: string?, age: i32")
BOTH = T.cross(table("id: i64", "u"))


class Declared(sd.Schema):
    id: sd.I64
    name: sd.String
    age: sd.I64


class Required(sd.Schema):
    id: sd.I64
    name: sd.String
    age: sd.I32


class Other(sd.Schema):
    id: sd.I64
    town: sd.String


FIELDS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "an unknown column": (
        lambda: T.select("nmae"),
        {"verb": "select", "name": "nmae", "candidates": ("id", "name", "age"), "names": ("nmae",), "kind": "column"},
    ),
    "an unknown position": (lambda: T.select(7), {"name": 7, "names": (), "kind": "column"}),
    "an unknown column of one side": (
        lambda: T.join(table("key: i64"), "age"),
        {"name": None, "names": ("age",), "message": 'on the right side: there is no column "age"; there is "key"'},
    ),
    "an ambiguous column": (lambda: BOTH.select("id"), {"name": "id", "positions": (0, 3), "names": ("id",)}),
    "a call that no overload takes": (
        lambda: T.filter(lambda r: f.equal(r.id, "x")),
        {"function": "equal", "arguments": ("i64", "'x'"), "call": "equal(i64, 'x')", "names": ("x",)},
    ),
    "a function that there is not": (lambda: f.uper, {"names": ("uper",)}),
    "a word": (
        lambda: T.join(T, "id", how="lfet"),
        {"what": "how", "word": "lfet", "got": "'lfet'", "names": ("lfet",)},
    ),
    "a value": (
        lambda: sd.lit("x", sd.I8),
        {"value": "'x'", "type": "i8", "takes": "an int, not a str", "names": ("x",)},
    ),
    "a value of the right class": (lambda: sd.lit(300, sd.I8), {"value": "300", "type": "i8", "takes": None}),
    "an argument": (
        lambda: T.rename(["id"]),
        {"text": "expected a dict of new names by old name, or a function of the old name", "got": "['id']"},
    ),
    "the place": (
        lambda: T.with_columns(x=lambda r: r.nmae),
        {"place": 'column "x"', "name": "nmae", "names": ("nmae", "x")},
    ),
    "columns of other types": (
        lambda: T.as_(Declared),
        {"differences": (Difference("name", "string", "string?", True), Difference("age", "i64", "i32"))},
    ),
    "columns that may be NULL": (
        lambda: T.as_(Required),
        {
            "differences": (Difference("name", "string", "string?", True),),
            "message": "the columns are not those of Required: name is nullable (string?), declared required",
        },
    ),
    "columns that are missing": (
        lambda: T.as_(Other),
        {
            "differences": (
                Difference("town", "string", None),
                Difference("name", None, "string?"),
                Difference("age", None, "i32"),
            )
        },
    ),
}


def raised(mistake: Callable[[], Any]) -> Any:
    with pytest.raises(SubstraitDslError) as caught:
        mistake()
    return caught.value


@pytest.mark.parametrize("case", FIELDS)
def test_an_error_says_in_fields_what_it_is_about(case: str) -> None:
    mistake, fields = FIELDS[case]
    error = raised(mistake)
    assert {name: getattr(error, name) for name in fields} == fields


@pytest.mark.parametrize("case", FIELDS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_the_fields_are_pickled_and_copied(case: str, copied: Callable[[Any], Any]) -> None:
    mistake, fields = FIELDS[case]
    error = raised(mistake)
    other = copied(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert (other.message, other.hint, other.args) == (error.message, error.hint, error.args)
    assert {name: getattr(other, name) for name in fields} == fields


def test_every_class_is_pickled_without_a_call_of_it() -> None:
    """Also those that take other arguments than a text."""
    for error in (
        errors.NotationError("x", line=3, column=7),
        errors.NotAllowedError("x", (1, 2), hint="y"),
        SubstraitDslError("x", got={"a": 1}, names=["n"], hint=lambda: "y"),
        errors.TypeMismatchError("x", reason=errors.LiteralError.of_value("1", "i8", "it is small")),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), type(again), again.names) == (str(error), type(error), error.names)


def test_the_text_is_made_of_the_fields() -> None:
    error = errors.UnknownFieldError.of_name("key", ["a"])
    assert str(error) == 'there is no column "key"; there is "a"'
    error.candidates = ("keys", "a")
    assert str(error) == 'there is no column "key"; there are "keys", "a"\n  hint: did you mean "keys"?'
    outer = errors.SchemaError("row 3", reason=errors.SchemaError("expected a tuple", got=5, hint="write (5,)"))
    assert str(outer) == "row 3: expected a tuple, got 5\n  hint: write (5,)"
    assert outer.names == ()


def test_of_many_overloads_the_error_says_how_many_there_are() -> None:
    error = raised(lambda: T.select(x=lambda r: f.extract("HOUR", r.name.cast(sd.Date))))
    assert error.candidate_count == len(list(f.extract._declared[0].overloads)) > len(error.candidates) == 3
    assert error.message.endswith(f"... ({error.candidate_count} in all)")


def test_where_one_value_does_not_fit_no_overload_is_listed() -> None:
    """Another value would do. A program has the overloads."""
    error = raised(lambda: sd.read_named("orders", {"price": "fp64"}).filter(lambda o: o.price > "x"))
    assert str(error).splitlines() == [
        "filter: no overload takes gt(fp64, 'x')",
        "  hint: 'x' does not fit fp64: it takes a float, not a str",
    ]
    assert len(error.candidates) == 3


# --- nothing reads a message

READERS = frozenset(
    [
        *("partition", "rpartition", "split", "rsplit", "splitlines", "startswith", "endswith", "find", "rfind"),
        *("index", "removeprefix", "removesuffix", "replace", "search", "match", "fullmatch", "findall", "finditer"),
        "sub",
    ]
)
"""Methods of texts, and of patterns, that look into a text."""

FOREIGN = {
    "spark": "the errors of Spark have no fields but their condition; `spark/failures.py` reads their texts",
    "consumers": "the errors of DataFusion and DuckDB are texts",
    "catalog/entries.py": "an error of PyYAML, put on one line",
    "mypy_plugin/reports.py": "what mypy says; and names that the plugin makes, which stand for what is not known",
}
"""Where texts of errors are read that are not the library's own, and whose."""


def is_text_of_an_error(node: ast.AST, errors_here: frozenset[str]) -> bool:
    match node:
        case ast.Attribute(attr="message" | "hint", value=ast.Name(id=name)):
            return name in errors_here
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return name in errors_here
    return False


def names_of_errors(tree: ast.AST) -> frozenset[str]:
    """The names that errors have in a module: what an except clause binds, and what is annotated or named as one."""
    found = {"error", "other", "refusal", "refused", "mistake", "problem", "failure"}
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.arg(arg=name, annotation=annotation) if annotation and "Error" in ast.unparse(annotation):
                found.add(name)
    return frozenset(found)


def readings(source: str) -> Iterator[str]:
    """The parts of a module that look into the text of an error; a comparison of whole texts is none."""
    tree = ast.parse(source)
    known = names_of_errors(tree)

    def has_text(node: ast.AST) -> bool:
        return any(is_text_of_an_error(each, known) for each in ast.walk(node))

    for node in ast.walk(tree):
        match node:
            case ast.Compare(ops=ops, comparators=others) if any(isinstance(op, ast.In | ast.NotIn) for op in ops):
                is_read = any(map(has_text, others))
            case ast.Call(func=ast.Attribute(attr=attr, value=value), args=arguments) if attr in READERS:
                is_read = has_text(value) or any(map(has_text, arguments))
            case ast.Subscript(value=value):
                is_read = is_text_of_an_error(value, known)
            case _:
                is_read = False
        if is_read:
            yield ast.unparse(node)


def test_nothing_in_the_library_reads_the_text_of_its_own_errors() -> None:
    found: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not any(name == each or name.startswith(f"{each}/") for each in FOREIGN):
            found += [f"{name}: {text}" for text in readings(path.read_text("utf-8"))]
    assert found == [], "give the error a field, and read that"


@pytest.mark.parametrize("place", FOREIGN)
def test_each_exemption_is_needed(place: str) -> None:
    path = ROOT / place
    files = [path] if path.suffix else sorted(path.rglob("*.py"))
    assert any(text for file in files for text in readings(file.read_text("utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "if 'it takes' in str(error): pass",
        "named = PATTERN.findall(error.message)",
        "head = error.message.partition('; there ')[0]",
        "try: pass\nexcept SchemaError as wrong:\n    wrong.message.startswith('there is no column')",
        "def hint(said: UnknownFieldError): return said.hint.replace('a', 'b')",
        "x = error.message[3:]",
    ],
)
def test_what_reads_a_message_is_found(source: str) -> None:
    assert list(readings(source))


def test_what_compares_or_shows_a_message_is_not() -> None:
    assert not list(readings("x = other.message == error.message\ny = f'row 3: {error.message}'"))


def modes_as_nouns(source: str) -> Iterator[str]:
    """Comparisons of what something is called in messages."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(comparators=[ast.Constant(value=str(noun))]) if noun.startswith(("a ", "an ", "the ")):
                yield ast.unparse(node)
            case ast.Compare(left=ast.Name(id="what"), comparators=[other]) if not isinstance(other, ast.Constant):
                yield ast.unparse(node)


def test_no_noun_of_a_message_is_a_mode() -> None:
    """What an expression is for is a `Role`, and not the words that messages have for it."""
    found = [f"{path.name}: {text}" for path in ROOT.rglob("*.py") for text in modes_as_nouns(path.read_text("utf-8"))]
    assert found == []
    assert [*modes_as_nouns('if what == "a condition": pass'), *modes_as_nouns("what in CONDITIONS")]


@pytest.mark.parametrize(
    ("mistake", "role"),
    [
        (lambda: T.filter(None), Role.CONDITION),
        (lambda: T.nested_loop_join(T, None), Role.CONDITION_OF_JOIN),
        (lambda: T.with_columns(x=None), Role.COLUMN),
        (lambda: T.group_by(k=None).agg(n=f.count()), Role.KEY),
    ],
)
def test_a_role_is_called_by_its_noun(mistake: Callable[[], Any], role: Role) -> None:
    assert raised(mistake).message == f"{role.noun} is None"
