"""Functions of any relation."""

from typing import Protocol, TypeVar

import substrait_dsl as sd

S = TypeVar("S", bound=sd.Schema)


class HasKey(Protocol):
    @property
    def key(self) -> sd.Expr[sd.I64, sd.Null]: ...


def newest(relation: sd.Relation[S]) -> sd.Relation[S]:
    return relation.limit(10)


def key_of(row: HasKey) -> sd.Expr[sd.I64, sd.Null]:
    return row.key
