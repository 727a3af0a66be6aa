"""The table of hints: what to write here for what people write elsewhere, by receiver and word."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import api, hints
from substrait_dsl.errors import InvalidChoiceError, SignatureError, SubstraitDslError
from substrait_dsl.fluent.writes import METHODS_OF_WRITERS
from substrait_dsl.hints import advice, receivers, words
from tests.support import table

ROOT = Path(sd.__file__).parent
FOLDER = Path(hints.__file__).parent
T: Any = table("id: i64, name: string")
NOT_OF_WORDS = {"phrases", "absent", "errors", "type", "python-type"}


def test_every_phrase_is_there_and_used() -> None:
    """What is left of a `$name` is a field of an error, of which only the errors have any."""
    for receiver in receivers():
        if receiver != "errors":
            assert not [text for text in words(receiver).values() if "$" in text], receiver
    written = "".join(file.read_text("utf-8") for file in FOLDER.glob("*.toml"))
    library = "".join(file.read_text("utf-8") for file in ROOT.rglob("*.py"))
    for name in words("phrases"):
        assert f"${name}" in written or re.search(rf"phrase\\(['\"]{name}['\"]\\)", library), name


def test_a_word_stands_once_for_a_receiver() -> None:
    """Of the keys of a file none says the same as another one, though each may have several words."""
    for file in hints.FILES:
        sections = tomllib.loads((FOLDER / file).read_text("utf-8"))
        arguments = sections.pop("arguments", {})
        assert len(", ".join(arguments).split(", ")) == len(set(", ".join(arguments).split(", ")))
        for section, keys in [*sections.items(), *arguments.items()]:
            found = [word for key in keys for word in key.split(", ")]
            assert len(found) == len(set(found)), (section, sorted(word for word in found if found.count(word) > 1))


def test_both_files_have_other_receivers() -> None:
    first, second = (tomllib.loads((FOLDER / file).read_text("utf-8")) for file in hints.FILES)
    assert not set(first) & set(second)


def test_every_receiver_is_asked_for() -> None:
    """By the words of the code: a section that nothing asks for says nothing."""
    library = set().union(*map(texts, parsed().values()))
    sections = {receiver for receiver in receivers() if not receiver.endswith("()")}
    assert len(sections) > 25
    assert sections <= library


@cache
def parsed() -> dict[Path, ast.Module]:
    """The modules of the library."""
    return {file: ast.parse(file.read_text("utf-8")) for file in ROOT.rglob("*.py")}


def texts(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def remedies() -> set[str]:
    """The keys of hints that errors of modules give which do not know the words of the fluent API."""
    found: set[str] = set()
    for tree in parsed().values():
        for node in ast.walk(tree):
            match node:
                case ast.keyword(arg="remedy", value=value):
                    found |= texts(value)
                case ast.Assign(targets=[ast.Name(id="remedy") | ast.Attribute(attr="remedy")], value=value):
                    found |= texts(value)
    return found


def test_every_remedy_is_in_the_table_and_given() -> None:
    assert remedies() == set(words("errors"))


def test_the_words_of_writers_are_those_that_the_verb_has() -> None:
    """They are attributes of the verb, so that they are known before the table is loaded."""
    assert set(METHODS_OF_WRITERS) == set(words("writer"))
    for name in METHODS_OF_WRITERS:
        with pytest.raises(SubstraitDslError) as caught:
            getattr(T.write, name)("x")
        assert caught.value.hint == f"write {advice('writer', name)}"


OWN = sd.Functions(
    sd.standard_catalog().with_extension("""
urn: extension:com.acme:texts
scalar_functions:
  - name: shout
    impls: [{args: [{name: x, value: string}], return: string}]
""")
)
CHOICES: dict[str, Any] = {
    "join-type": lambda word: T.join(T, "id", how=word),
    "lateral-join-type": lambda word: T.lateral_join(lambda r: T, how=word),
    "asof-direction": lambda word: T.asof_join(T, "id", direction=word),
    "asof-join-type": lambda word: T.asof_join(T, "id", how=word),
    "comparison": lambda word: T.hash_join(T, [sd.join_key("id", comparison=word)]),
    "set-operation": lambda word: T.set_op(word, T),
    "aggregate-method": lambda word: T.aggregate("id", method=word),
    "window-method": lambda word: T.window(method=word),
    "write-operation": lambda word: T.write("t", word),
    "create-mode": lambda word: T.write("t", "ctas", create_mode=word),
    "output-mode": lambda word: T.write("t", output=word),
    "implementation-engine": lambda word: sd.implement(OWN.shout, word, "upper({x})"),
    "strictness": lambda word: sd.Plan.from_bytes(b"", strict=word),
}


@pytest.mark.parametrize("receiver", CHOICES)
def test_each_word_of_others_gets_its_advice(receiver: str) -> None:
    assert words(receiver)
    for word, write in words(receiver).items():
        with pytest.raises(InvalidChoiceError) as caught:
            CHOICES[receiver](word)
        assert (caught.value.receiver, caught.value.word) == (receiver, word)
        assert caught.value.hint == f"write {write}"


def test_each_method_of_others_gets_its_advice() -> None:
    subjects = {
        "relation": T,
        "group": T.group_by("id"),
        "expression": sd.col("x"),
        "measure": sd.functions.count(),
        "window": sd.functions.rank(),
        "package": sd,
        "functions": sd.functions,
    }
    for receiver, subject in subjects.items():
        for word, write in words(receiver).items():
            with pytest.raises(SubstraitDslError) as caught:
                getattr(subject, word)
            assert caught.value.hint == f"write {write}", (receiver, word)


def test_the_arguments_of_others_get_their_advice() -> None:
    with pytest.raises(SignatureError) as caught:
        T.sort("id", ascending=False)
    error = caught.value
    assert (error.function, error.unknown, error.missing) == ("sort", ("ascending",), ())
    assert error.hint == f"write {advice('sort()', 'ascending')}"
    with pytest.raises(SignatureError) as caught:
        T.limit(5, 6)
    assert (caught.value.surplus, caught.value.hint) == ("6", f"write {advice('limit()', '')}")
    with pytest.raises(SignatureError) as caught:
        sd.read_named("t")  # type: ignore[call-overload]
    assert (caught.value.missing, caught.value.hint) == (("schema",), f"give {advice('read_named()', '+schema')}")
    with pytest.raises(SignatureError) as caught:
        T.limit(5, count=6)
    assert (caught.value.repeated, caught.value.hint) == (("count",), None)
    with pytest.raises(SignatureError) as caught:
        T.join(T, "id", hwo="left")
    assert (caught.value.unknown, caught.value.hint) == (("hwo",), 'did you mean "how"?')


def test_the_table_is_loaded_when_a_hint_is_asked_for() -> None:
    program = """
import sys
import substrait_dsl as sd
t = sd.read_named("t", {"id": "i64"}).filter(lambda r: r.id > 1)
t.to_plan().to_bytes()
assert not hasattr(t, "withColumn") and not hasattr(sd, "udf") and not hasattr(sd.col("x"), "isin")
try:
    t.join(t, "id", how="fullouter")
except ValueError as error:
    assert "tomllib" not in sys.modules
    assert error.hint == 'write "outer"'
    assert "tomllib" in sys.modules
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


LOW = ("errors.py", "texts.py", "signature_errors.py", "installation.py", "algebra", "catalog")
"""Below the fluent API: what stands here does not know how people write."""


def modules_below() -> list[Path]:
    return [file for name in LOW for file in ([ROOT / name] if "." in name else sorted((ROOT / name).rglob("*.py")))]


@cache
def words_of_the_fluent_api() -> set[str]:
    """What people call: public functions, and methods of what these make, but for names that stand below, too."""
    holders = (sd.Relation, sd.Expr, sd.GroupBy, sd.Measure, sd.Plan)
    public = {name for name in api.__all__ if callable(getattr(sd, name))}
    public |= {name for holder in holders for name in dir(holder) if not name.startswith("_")}
    own = (ast.FunctionDef, ast.ClassDef)
    below = {node.name for file in modules_below() for node in ast.walk(parsed()[file]) if isinstance(node, own)}
    return public - below


def fluent_texts(source: str, known: set[str]) -> list[str]:
    """The texts of a module, but for those that document it, in which something of the fluent API is called."""
    called = re.compile(rf"(?<![\w<])(?:{'|'.join(sorted(known))})[(\[]|\bfunctions\.\w|\bspark\.\w|local_session")
    tree = ast.parse(source)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documents)
    return [node.value for node in texts if isinstance(node.value, str) and called.search(node.value)]


def test_what_is_below_the_fluent_api_does_not_speak_of_it() -> None:
    known = words_of_the_fluent_api()
    assert {"with_columns", "lit", "col", "select", "collect", "exists", "shared"} <= known
    found = [
        f"{file.name}: {text}" for file in modules_below() for text in fluent_texts(file.read_text("utf-8"), known)
    ]
    assert found == [], "give the error a remedy, and the table of hints what to write"


@pytest.mark.parametrize(
    "hint",
    ["write lit(5)", "functions.coalesce(x, ...)", "rel.select(...) has them", "spark.session", "local_session()"],
)
def test_such_texts_are_found(hint: str) -> None:
    assert fluent_texts(f"raise SchemaError('x', hint={hint!r})", words_of_the_fluent_api())
    assert not fluent_texts(f"def f():\n    {hint!r}", words_of_the_fluent_api())
