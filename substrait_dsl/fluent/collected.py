"""The rows that `collect` returns: a list, which a notebook shows as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

R = TypeVar("R")


class Rows(list[R]):
    """A list of rows that knows the names of their columns, to show itself; what is made of it is a list."""

    __slots__ = ("_names",)

    def __init__(self, rows: Iterable[R], names: tuple[str, ...]) -> None:
        super().__init__(rows)
        self._names = names

    def __reduce__(self) -> tuple[type[list[R]], tuple[list[R]]]:
        return list, ([*self],)

    def _repr_html_(self) -> str:
        from substrait_dsl.render.row_table import rows_html

        return rows_html(self._names, self)  # type: ignore[arg-type]  # a row of Spark is a tuple
