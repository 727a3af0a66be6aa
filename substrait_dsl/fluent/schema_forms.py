"""What declares columns besides schema classes, as type checkers know it: by what it has, whatever library is there."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.relation_schema import RelationSchema

if TYPE_CHECKING:
    from substrait_dsl.arrow import ArrowSchema


class SparkSchema(typing.Protocol):
    """A ``pyspark.sql.types.StructType``, said by what it has: a checker knows it where pyspark is not installed."""

    def fieldNames(self) -> list[str]: ...  # noqa: N802  # PySpark's name
    def toInternal(self, obj: Any) -> Any: ...  # noqa: N802  # likewise


class SparkFrame(typing.Protocol):
    """A DataFrame of PySpark."""

    @property
    def sparkSession(self) -> Any: ...  # noqa: N802  # PySpark's name


class ArrowStream(typing.Protocol):
    """A frame, a relation or a reader of another library that exports its rows by Arrow's C data interface."""

    @property
    def __arrow_c_stream__(self) -> Callable[..., object]: ...


class LazyFrame(typing.Protocol):
    """A lazy frame of Polars or narwhals."""

    def collect_schema(self) -> Any: ...


class HasSchema(typing.Protocol):
    """A relation of this library."""

    @property
    def schema(self) -> RelationSchema: ...


class DataclassSchema(typing.Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __sizeof__(self) -> int: ...  # a `Schema` class has no such method to checkers, which give it the fields


class AttrsSchema(typing.Protocol):
    """An instance of a class of attrs."""

    __attrs_attrs__: ClassVar[Any]


class PydanticSchema(typing.Protocol):
    """A model of pydantic."""

    __pydantic_fields__: ClassVar[dict[str, Any]]


class PanderaModel(typing.Protocol):
    """A model of pandera, whose class makes a schema."""

    @property
    def to_schema(self) -> Callable[..., Any]: ...


class PanderaSchema(typing.Protocol):
    """A schema of pandera."""

    @property
    def columns(self) -> Mapping[str, Any]: ...


DeclaredClass = (
    type[DataclassSchema] | type[AttrsSchema] | type[PydanticSchema] | type[tuple[Any, ...]] | type[Mapping[str, Any]]
)
"""Classes of Python that declare columns by annotations: the last two are NamedTuple and TypedDict."""

Declared = typing.Union[
    Mapping[str, Any],
    Sequence[tuple[str, Any]],
    str,
    NamedStruct,
    RelationSchema,
    HasSchema,
    "ArrowSchema",
    ArrowStream,
    LazyFrame,
    SparkSchema,
    SparkFrame,
    PanderaSchema,
    type[PanderaModel],
    DeclaredClass,
]
"""Declarations of columns other than schema classes: a dict of types, DDL or JSON as text, a relation or its schema, a
class of Python with annotations, and schemas and frames of other libraries."""
