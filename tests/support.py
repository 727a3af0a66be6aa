"""What the tests of pipelines share: tables and columns from text, inputs with properties, refusals, counted calls."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Distribution, FieldPath, OrderKey, Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SubstraitDslError

f: Any = functions
"""All functions. Like `table`, anything to a type checker: tests call them wrongly on purpose."""


def table(columns: str, name: str = "t") -> Any:
    """A named table: ``table("a: i64, b: string?")``.

    To a type checker it is anything: tests call its verbs wrongly on purpose.
    """
    return sd.read_named(name, dict(re.findall(r"(\w+): (.+?)(?=, \w+: |$)", columns)))


def columns(relation: sd.Relation[Any]) -> str:
    """The schema of a relation in the notation of `table`."""
    return ", ".join(f"{field.name}: {field.type}" for field in relation.schema)


@attrs.frozen(eq=False, repr=False)
class Declared(Rel):
    """A leaf whose properties are declared, as those of a read may be ("Output Properties")."""

    declared_schema: NamedStruct
    declared_properties: Properties

    def _derive_schema(self) -> NamedStruct:
        return self.declared_schema

    def _derive_properties(self) -> Properties:
        return self.declared_properties


def declared(columns: str, *order: OrderKey, distribution: Distribution | None = None) -> Any:
    """A relation with these columns that is known to be ordered and distributed so."""
    return sd.Relation(Declared(table(columns)._rel.schema, Properties(order, distribution)))


def ascending(*path: int) -> OrderKey:
    """The ordering of a plain ``sort``: smallest first, NULLs before."""
    return OrderKey(path, "asc_nulls_first")


def ordering(relation: sd.Relation[Any]) -> list[FieldPath]:
    """The fields that a relation is known to be ordered by."""
    return [key.field for key in relation.properties.ordering]


def distribution(relation: sd.Relation[Any]) -> Distribution | None:
    """How a relation is known to be distributed."""
    return relation.properties.distribution


def computed(make: Callable[[Any], Any], over: str = "a: i64, b: i64?, s: string, t: string?") -> Expression:
    """The expression of the algebra that a lambda builds over a row with these columns."""
    expression: Expression
    (expression,) = table(over).project(result=make)._rel.expressions
    return expression


def type_of(make: Callable[[Any], Any], over: str = "a: i64, b: i64?, s: string, t: string?") -> str:
    """The type of what a lambda builds over a row with these columns."""
    return str(table(over).project(result=make).schema["result"])


@contextmanager
def refused(error: type[SubstraitDslError], *said: str) -> Iterator[None]:
    """Expect exactly this class of error, with a text that contains all of `said`."""
    with pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error
    text = str(caught.value)
    for part in said:
        assert part in text


def environment_without_options() -> dict[str, str]:
    """The environment for a run of pytest inside a test: without the options of the run that the test is in."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}


def count_calls(work: Callable[[], object]) -> int:
    """Count the functions that are called: as time, but exact, and the same on a busy machine."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
