"""Update: how many records were modified; what a column may be changed to."""

from __future__ import annotations

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, UnknownFieldError
from tests.nodes import TRUE, col, gt, i64, leaf, plus, text
from tests.support import refused

TABLE = leaf("id: i64, n: i64?, name: string")
ID = col(TABLE, "id")


def update(*changes: tuple[int, ex.Expression], condition: ex.Expression = TRUE) -> r.Update:
    made = tuple(r.Transformation(column, value) for column, value in changes)
    return r.Update(r.NamedTable(("t",)), TABLE.schema, condition, made)


def test_the_output_is_the_number_of_modified_records() -> None:
    """Spec decision 44: one row of one required i64, whatever the table's columns are."""
    changed = update((1, plus(ID, i64(1))), (2, literal("x", t.String())), condition=gt(ID, i64(3)))
    assert text(changed) == "modified_records: i64"
    assert changed.single_row
    assert changed.inputs == ()


def test_the_condition_is_a_boolean() -> None:
    with refused(TypeMismatchError, "condition of an update", "boolean", "i64"):
        update((1, ID), condition=ID)


def test_changes_that_cannot_be() -> None:
    with refused(InvalidArgumentError, "at least one column to change"):
        update()
    for position in (3, -1):
        with refused(UnknownFieldError, f"no column {position}", "id: i64"):
            update((position, ID))
    with refused(InvalidArgumentError, '"n" is changed twice'):
        update((1, ID), (1, i64(None)))
    with refused(TypeMismatchError, 'column "name" of the table is string', "i64"):
        update((2, ID))
    with refused(TypeMismatchError, 'column "id" of the table is required', "may be NULL"):
        update((0, i64(None)))
