"""Arrow tables as DataFrames of pandas and Polars, with nothing lost."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from substrait_dsl.arrow.schemas import pyarrow_module
from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_LIBRARIES = {"to_pandas": ("pandas", 'pip install "pandas>=2.2"'), "to_polars": ("polars", "pip install polars")}


def require_library(verb: str) -> None:
    """Raise `UnsupportedError` if the library is missing that a verb makes frames of."""
    pyarrow_module()
    if verb in _LIBRARIES:
        name, line = _LIBRARIES[verb]
        if find_spec(name) is None:
            raise UnsupportedError(f"{verb} needs {name}, which is not installed", hint=line)


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    """Return a DataFrame of pandas whose columns are of Arrow's types."""
    import pandas as pd

    frame: pd.DataFrame = _with_storage(table).to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """Return a DataFrame of Polars.

    Raises `UnsupportedError` for columns of a type that Polars has not, and for two of one name.
    """
    import polars as pl

    try:
        frame = pl.from_arrow(_with_storage(table))
    except Exception as error:  # of Polars' Rust, which has classes for some
        raise UnsupportedError(f"to_polars: Polars does not take them: {error}", hint="to_arrow() has them") from error
    assert isinstance(frame, pl.DataFrame)
    return frame


def _with_storage(table: pa.Table) -> pa.Table:
    """Return the table with uuids as texts: neither library has a type for them."""
    pa = pyarrow_module()
    for position, field in enumerate(table.schema):
        if field.type == pa.uuid():
            chunks = [_texts(chunk) for chunk in table.column(position).chunks]
            table = table.set_column(position, field.with_type(pa.string()), pa.chunked_array(chunks, pa.string()))
    return table


def _texts(array: Any) -> pa.Array:
    from substrait_dsl.layouts import plain_array

    return plain_array(array, pyarrow_module().string())
