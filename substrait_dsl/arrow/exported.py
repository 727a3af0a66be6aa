"""Schemas of what exports Arrow data: frames, relations and readers of other libraries. No row is computed or read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import Type
from substrait_dsl.arrow.schemas import from_arrow, pyarrow_module, type_from_arrow
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, shorten

_EXPORTS = ("__arrow_c_schema__", "__arrow_c_stream__", "collect_schema")
"""What an object has that exports its schema through Arrow's C data interface, at once or by another object."""


def exports_schema(source: object) -> bool:
    """Return whether an object says its columns by way of Arrow: a frame, a relation, a reader, a schema."""
    return not isinstance(source, type) and (any(hasattr(source, name) for name in _EXPORTS) or _is_foreign(source))


def _is_foreign(source: object) -> bool:
    """Return whether a dict is a schema of another library, such as narwhals, with types of its own."""
    return isinstance(source, Mapping) and hasattr(source, "to_arrow")


def exported_schema(source: Any) -> NamedStruct:
    """Read the schema of an object that exports Arrow data, without its rows.

    Args:
        source: a schema, a frame, a relation or a reader of pyarrow, pandas, Polars, DuckDB, DataFusion, ibis or
            narwhals, or of whatever library has ``__arrow_c_schema__`` or ``__arrow_c_stream__``. Of pandas, the index
            is none of the columns.

    Returns:
        The columns, with the nullability that the fields say.

    Raises:
        InvalidArgumentError: the object makes no Arrow schema.
        UnsupportedError: an Arrow type has no Substrait equal, or pyarrow is not installed.
    """
    pa = pyarrow_module()
    try:
        schema = _find_schema(source)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:  # of exporters
        name = f"a {type(source).__name__} of {type(source).__module__.partition('.')[0]}"
        raise InvalidArgumentError(f"cannot read columns from {name}: {shorten(str(error))}") from error
    return from_arrow(schema)


def _find_schema(source: Any) -> Any:
    pa = pyarrow_module()
    if isinstance(source, pa.Schema):
        return source
    if hasattr(source, "__arrow_c_schema__"):
        return pa.schema(source)
    if _is_foreign(source):
        return source.to_arrow()
    if type(source).__module__.partition(".")[0] == "pandas":
        return pa.Schema.from_pandas(source, preserve_index=False)
    for name in ("collect_schema", "schema"):  # before a stream, which may start the computation of rows
        found: Any = getattr(source, name, None)
        found = found() if callable(found) else found
        if hasattr(found, "__arrow_c_schema__"):
            return pa.schema(found)
        if hasattr(found, "to_arrow"):
            return found.to_arrow()
    with pa.RecordBatchReader.from_stream(source) as reader:
        return reader.schema


def exported_type(data_type: Any) -> Type | None:
    """Return the type that a type of Polars, numpy, pandas or pyarrow stands for; None for one of another library."""
    pa = pyarrow_module()
    library = (data_type if isinstance(data_type, type) else type(data_type)).__module__.partition(".")[0]
    try:
        match library:
            case "polars":
                import polars

                return exported_schema(polars.Schema({"x": data_type})).types[0]
            case "pandas":
                import pandas

                return exported_schema(pandas.DataFrame({"x": pandas.Series(dtype=data_type)})).types[0]
            case _:
                arrow_type = data_type if isinstance(data_type, pa.DataType) else pa.from_numpy_dtype(data_type)
    except (pa.ArrowException, UnsupportedError, TypeError, NotImplementedError):  # of readers
        return None
    return type_from_arrow(arrow_type, nullable=True)
