"""What fits a table: columns that a table can have."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import I64
from substrait_dsl.errors import SchemaError
from substrait_dsl.spark.sources.schema_compatibility import require_distinct


def named(*names: str) -> NamedStruct:
    return NamedStruct(tuple(Field(name, I64()) for name in names))


def test_a_table_has_no_two_columns_of_one_name() -> None:
    """Nor of names that differ in case alone, as Spark looks them up; the names of equal texts are often one object."""
    require_distinct(named("a", "b", "ab"), "write")
    with pytest.raises(SchemaError, match=r'^write: two of the columns are called "a"; no table has that$'):
        require_distinct(named("a", "b", "a"), "write")
    with pytest.raises(SchemaError, match=r'two of the columns are called "a"'):
        require_distinct(named("a", "".join(["", "a"])), "write")
    with pytest.raises(SchemaError, match=r'the columns "a", "A" differ in the case of letters only'):
        require_distinct(named("a", "b", "A"), "write")
