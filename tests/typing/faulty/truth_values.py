"""Truth values of expressions and relations: there are none before a query runs, nor are these sequences.

What mypy does not see here, its plugin sees. pyright takes ``x and y`` for what either operand is.
"""

# ruff: noqa: B015, B018, C416  # the expressions are there for a type checker to read

import substrait_dsl as sd
from tests.typing.tables import Orders


def conditions(o: Orders, relation: sd.Relation[Orders], given: sd.Expr[sd.I64] | None) -> None:
    if o.o_open:  # E(pyright, ty): an expression is no truth value
        print("open")
    print("open" if o.o_open else "shut")  # E(pyright, ty): nor in one expression
    not o.o_open  # E(pyright, ty): ~ is the operator
    o.o_open and o.o_open  # E(ty): & is the operator
    given or o.o_orderkey  # E(ty): nor if it may be None
    assert o.o_orderkey > 1  # E(pyright, ty): nor here
    print(1 < o.o_orderkey < 3)  # E(ty): nor are two comparisons one
    [1 for _ in (1, 2) if o.o_open]  # E(pyright, ty): nor here
    if relation:  # E(pyright, ty): exists() tests for rows
        print("rows")


def sequences(o: Orders, relation: sd.Relation[Orders]) -> None:
    "x" in o.o_comment  # E: an expression is no container
    1 in relation  # E: nor is a relation
    for _ in o.o_comment:  # E: an expression is no sequence
        pass
    [_ for _ in relation]  # E: nor is a relation
    list(o.o_comment)  # E: an expression is no sequence
    max(o.o_orderkey, o.o_custkey)  # E: it is greatest() of Substrait
