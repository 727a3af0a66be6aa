"""The cases of the functions of the library's own extension, as relations: in the format of the specification's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

import substrait_dsl as sd
from substrait_dsl import everyday
from substrait_dsl.algebra import types as t
from tests.catalog.cases import Case, Column, Value, read_cases

FOLDER = Path(__file__).parent / "catalog" / "everyday"
WITH_CONSTANTS = {"get_json"}
"""The functions whose arguments but the first are constants."""

OWN = sd.Functions(everyday.catalog(), everyday.URN)


def cases() -> list[Case]:
    """Every case of the folder."""
    return [case for path in sorted(FOLDER.glob("*.test")) for case in read_cases(path.read_text("utf-8"), path.name)]


@attrs.frozen
class Question:
    """A relation of one row, and what must come out for each of its columns."""

    relation: Any
    cases: list[Case]


def expected(case: Case) -> tuple[Any, t.Type]:
    """Return what a case states."""
    assert isinstance(case.expected, Value)
    return case.expected.value, case.expected.type


def scalars(names: set[str] | None = None) -> Question:
    """Return all scalar cases, or those of some functions, as columns over one row of their arguments."""
    found = [case for case in cases() if case.kind == "scalar" and (names is None or case.function in names)]
    values: dict[str, Any] = {}
    types: dict[str, t.Type] = {}
    calls: dict[str, Any] = {}
    for number, case in enumerate(found):
        columns: list[Any] = []
        for position, argument in enumerate(case.arguments):
            assert isinstance(argument, Value)
            if case.function in WITH_CONSTANTS and position:
                columns.append(sd.lit(argument.value, argument.type))
                continue
            name = f"a{number}_{position}"
            values[name], types[name] = argument.value, argument.type
            columns.append(sd.col(name))
        calls[f"c{number}"] = getattr(OWN, case.function)(*columns)
    return Question(sd.read_virtual([tuple(values.values())], types).select(**calls), found)


def aggregates() -> list[Question]:
    """Return the aggregate cases, each a relation."""
    found = []
    for case in cases():
        if case.kind != "aggregate":
            continue
        assert case.table is not None
        columns = {f"col{number}": type_.as_nullable() for number, type_ in enumerate(case.table.types)}
        rows = sd.read_virtual(list(case.table.rows), columns)
        arguments = [
            sd.col(f"col{each.index}") if isinstance(each, Column) else sd.lit(each.value, each.type)  # type: ignore[union-attr]
            for each in case.arguments
        ]
        found.append(Question(rows.aggregate(c0=getattr(OWN, case.function)(*arguments)), [case]))
    return found


def wrong(question: Question, session: Any) -> list[str]:
    """Return the cases that come out otherwise than they state, in value or in type."""
    (row,) = question.relation.collect(session)
    found = []
    for case, value, type_ in zip(question.cases, row, question.relation.schema.types, strict=True):
        stated, stated_type = expected(case)
        if value != stated or type_ != stated_type:
            found.append(f"{case}: got {value!r}: {type_}")
    return found
