"""Docstrings of the public names: what they say, and that their examples run."""

from __future__ import annotations

import builtins
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from substrait import algebra_pb2, extended_expression_pb2, plan_pb2, type_pb2
from substrait.extensions import extensions_pb2

import substrait_dsl as sd
from substrait_dsl import api, errors, everyday, testing
from substrait_dsl.spark.session.local import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OTHER_WORDS = (
    "a all an any as both each how it of one only such that the these this those to what when where whether which who"
)
NO_VERBS = frozenset(_OTHER_WORDS.split())
"""Words that a first line does not begin with: it says what a call does, by a verb."""

ENDINGS = r"(?<!s)s$|(?<!^Br)ing$|ed$"
"""How a word ends that is no imperative: `Returns`, `Keeping`, `Sorted`."""

OTHER_PARAMETERS = frozenset({"self", "cls", "misplaced"})

WITHOUT_EXAMPLE: dict[str, str] = {
    "Catalog.possible_cast": "it takes what is known of arguments, which calls of functions make",
    "Catalog.widen": "it takes what is known of arguments, which calls of functions make",
    "Catalog.resolve": "it takes what is known of arguments, which calls of functions make",
    "LambdaFunction.resolve_types": "calls of functions resolve lambdas; it takes the row that they stand in",
    "assert_contract": "it takes a file that the command line writes",
    "local_session": "it starts an engine",
}
"""Functions and methods that have no example, and why."""

CLASSES_WITHOUT_EXAMPLE: dict[str, str] = {
    "DynExpr": "it is an `Expr`, to a type checker another one",
    "Expr": "its methods have examples, and nobody makes one by its class",
    "SortKey": "nobody makes one by its class: `asc` and `desc` have examples",
    "SubstraitDslError": "it is the base of errors, which the examples of what raises them show",
}
"""Classes that have no example, and why."""

ON_ENGINE = frozenset(
    {
        "Plan.execute",
        "Plan.running",
        *(f"RunVerbs.{verb}" for verb in ("collect", "execute", "running", "show", "to_arrow")),
        *(f"RunVerbs.{verb}" for verb in ("to_pandas", "to_polars")),
        "assert_same_rows",
    }
)
"""Those whose examples are about rows: the embedded engine computes them, which takes a while to start."""


ON_DATAFUSION = frozenset({"from_sql"})
"""Those whose examples need DataFusion."""


def public_objects() -> Iterator[tuple[str, Any]]:
    """Every public class and function, and the methods and properties of classes, by a name that tells them apart."""
    tops = [getattr(api, name) for name in api.__all__]
    tops += [value for value in vars(testing).values() if getattr(value, "__module__", "") == testing.__name__]
    tops += [local_session, *(getattr(everyday, name) for name in everyday.__all__)]
    for top in tops:
        if not getattr(top, "__module__", "").startswith("substrait_dsl.") or top.__name__.startswith("_"):
            continue
        if inspect.isfunction(top):
            yield top.__qualname__, top
        elif inspect.isclass(top):
            yield top.__qualname__, top
            for base in top.__mro__:
                # The algebra's own bases are no public names, and no library's are ours.
                is_inner = "algebra" in base.__module__ and base not in tops
                if base.__module__.startswith("substrait_dsl.") and not is_inner:
                    yield from members(base)


def members(owner: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(owner).items():
        if name.startswith("_"):
            continue
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if inspect.isfunction(value) or isinstance(value, property):
            yield f"{owner.__qualname__}.{name}", value


@cache
def documented() -> dict[str, Any]:
    """What has a docstring of its own: a method that implements an abstract one may leave it to that."""
    return {name: value for name, value in public_objects() if value.__doc__}


def calls() -> dict[str, Callable[..., Any]]:
    return {name: value for name, value in documented().items() if inspect.isfunction(value)}


@cache
def shared_names() -> dict[str, Any]:
    """The tables of the example of `Relation`, which other examples go on from."""
    names = {"__name__": "example"}
    run("Relation", sd.Relation, names)
    return names


def run(name: str, value: Any, names: dict[str, Any]) -> None:
    parsed = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", names, name, name, 0)
    parsed.globs = names
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    assert runner.run(parsed, out=report.append, clear_globs=False).failed == 0, "".join(report)


WITH_EXAMPLE = [name for name, value in documented().items() if ">>>" in value.__doc__]


@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLE if name not in ON_ENGINE | ON_DATAFUSION])
def test_the_example_runs(name: str) -> None:
    run(name, documented()[name], dict(shared_names()))


@pytest.mark.parametrize("name", sorted(ON_ENGINE))
def test_the_example_runs_on_the_embedded_engine(name: str, sail: SparkSession) -> None:
    run(name, documented()[name], dict(shared_names()))


@pytest.mark.parametrize("name", sorted(ON_DATAFUSION))
def test_the_example_runs_with_datafusion(name: str, datafusion: None) -> None:
    run(name, documented()[name], dict(shared_names()))


def first_line_fault(text: str) -> str | None:
    """What is wrong with a first line that is to say what a call does."""
    line = text.strip().splitlines()[0]
    word = re.split(r"[^\w]", line)[0]
    if not word or word.lower() in NO_VERBS or word != word.capitalize() or re.search(ENDINGS, word):
        return f"begins with {word!r}, which is no verb in the imperative"
    return None


def test_a_first_line_is_told_by_its_verb() -> None:
    for text in ("Keep the rows.", "Pass it on.", "Add a column: ``x``."):
        assert first_line_fault(text) is None
    for text in ("The rows.", "Whether it is.", "Returns rows.", "Keeping rows.", "``x``", "A row."):
        assert first_line_fault(text) is not None


def missing_arguments(value: Callable[..., Any]) -> list[str]:
    """Parameters that no line of the arguments describes."""
    text = inspect.getdoc(value) or ""
    wanted = [name for name in inspect.signature(value).parameters if name not in OTHER_PARAMETERS]
    return [name for name in wanted if not re.search(rf"^ +{name}: ", text, re.MULTILINE)]


def unknown_errors(text: str) -> list[str]:
    """Names of errors that are said to be raised and that there are not."""
    named = re.findall(r"`(\w+Error)`|^ +(\w+Error): ", text, re.MULTILINE)
    found = {one or other for one, other in named}
    return sorted(name for name in found if not hasattr(errors, name) and not hasattr(builtins, name))


def faults(name: str, value: Callable[..., Any]) -> list[str]:
    text = inspect.getdoc(value) or ""
    found = [fault] if (fault := first_line_fault(text)) else []
    found += [f"does not describe {each}" for each in missing_arguments(value)]
    if ">>>" not in text and name not in WITHOUT_EXAMPLE:
        found.append("has no example")
    return found


def test_public_calls_are_described() -> None:
    found = {name: list_ for name, value in calls().items() if (list_ := faults(name, value))}
    assert not found, "\n".join(f"{name}: {', '.join(list_)}" for name, list_ in found.items())


def test_public_classes_have_an_example() -> None:
    texts = {name: inspect.getdoc(value) or "" for name, value in documented().items() if inspect.isclass(value)}
    assert {name for name, text in texts.items() if ">>>" not in text} == set(CLASSES_WITHOUT_EXAMPLE)


def test_no_example_is_excused_that_is_there() -> None:
    texts = {name: inspect.getdoc(value) or "" for name, value in calls().items()}
    assert not [name for name in WITHOUT_EXAMPLE if ">>>" in texts[name]]


def test_errors_that_are_said_to_be_raised_are_there() -> None:
    texts = {name: inspect.getdoc(value) or "" for name, value in documented().items()}
    assert not {name: list_ for name, text in texts.items() if (list_ := unknown_errors(text))}


@cache
def specified_names() -> frozenset[str]:
    """Messages, fields, enumerations and their values of the specification, by each end of their full names."""
    found = {"Capabilities"}  # a message of versions before 0.82

    def add(path: list[str], *names: str) -> None:
        for name in names:
            found.update(".".join([*path[start:], name]) for start in range(len(path) + 1))

    def visit(message: Any, path: list[str]) -> None:
        add(path, message.name)
        inner = [*path, message.name]
        add(inner, *(field.name for field in message.field), *(oneof.name for oneof in message.oneof_decl))
        for kind in message.enum_type:
            add(inner, kind.name, *(value.name for value in kind.value))
        for nested in message.nested_type:
            visit(nested, inner)

    for module in (algebra_pb2, extended_expression_pb2, extensions_pb2, plan_pb2, type_pb2):
        file = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        add([], *(value.name for kind in file.enum_type for value in kind.value))
        for message in file.message_type:
            visit(message, [])
    return frozenset(found | set(sd.standard_catalog().by_name()))


def test_places_in_the_specification_are_there() -> None:
    wrong = {}
    for name, value in documented().items():
        said = re.findall(r"Specification: (.*?)(?:\n\n|\Z)", inspect.getdoc(value) or "", re.DOTALL)
        words = [word for text in said for word in re.findall(r"``([\w.]+)``", text)]
        is_file = re.compile(r".*\.(proto|yaml)")
        if unknown := [word for word in words if word not in specified_names() and not is_file.fullmatch(word)]:
            wrong[name] = unknown
    assert not wrong
