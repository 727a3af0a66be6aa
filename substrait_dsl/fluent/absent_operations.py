"""Operations of Python's that measures and relations have not: errors that say what to write.

A checker does not see them, so that it refuses them itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from substrait_dsl.errors import TypeMismatchError
from substrait_dsl.signature_errors import Called

OPERATIONS: dict[str, str] = {
    "//": "functions.divide(x, y) of integers, which leaves the fraction out; functions.floor(x / y) of others",
    "<<": "functions.shift_left(x, n)",
    ">>": "functions.shift_right(x, n)",
    "@": "x * y",
    "divmod": "functions.divide(x, y) and x % y",
    "round": "functions.round(x, digits)",
}
"""What to write for an operation that no expression and no measure has."""

_MEASURE = "a measure"
_VALUES = "relation.aggregate(n=...).collect(), which has the value"


def no_operation(name: str, advice: str | None = None, what: str = "an expression") -> TypeMismatchError:
    """Return the error for an operation of Python's that an object has not."""
    return TypeMismatchError(
        f"{what} has no {name} before the query runs", hint=f"write {OPERATIONS[name] if advice is None else advice}"
    )


class AbsentOfMeasures(Called):
    """The operations that measures have not."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __floordiv__(self, other: object) -> NoReturn:
            raise no_operation("//", what=_MEASURE)

        def __lshift__(self, other: object) -> NoReturn:
            raise no_operation("<<", what=_MEASURE)

        def __rshift__(self, other: object) -> NoReturn:
            raise no_operation(">>", what=_MEASURE)

        def __matmul__(self, other: object) -> NoReturn:
            raise no_operation("@", what=_MEASURE)

        def __divmod__(self, other: object) -> NoReturn:
            raise no_operation("divmod", what=_MEASURE)

        __rfloordiv__, __rlshift__, __rrshift__ = __floordiv__, __lshift__, __rshift__
        __rmatmul__, __rdivmod__ = __matmul__, __divmod__

        def __round__(self, digits: object = None) -> NoReturn:
            raise no_operation("round", what=_MEASURE)

        def __len__(self) -> NoReturn:
            raise no_operation("len", _VALUES, _MEASURE)

        def __int__(self) -> NoReturn:
            raise no_operation("int", _VALUES, _MEASURE)

        def __float__(self) -> NoReturn:
            raise no_operation("float", _VALUES, _MEASURE)

        def __getitem__(self, key: object) -> NoReturn:
            raise TypeMismatchError(
                "a measure has no parts", hint="name it in agg(...), and take the part in select(...) after it"
            )

        def __contains__(self, item: object) -> NoReturn:
            raise TypeMismatchError("a measure is not a container", hint="write x.is_in([...])")

        def __iter__(self) -> NoReturn:
            raise TypeMismatchError("a measure is not a sequence", hint=f"write {_VALUES}")


class AbsentOfRelations(Called):
    """The operators that relations have not."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __add__(self, other: object) -> NoReturn:
            raise _no_operator("+", self, other, "union_all(other)")

        def __radd__(self, other: object) -> NoReturn:
            if other == 0 and type(other) is int:
                raise TypeMismatchError("relations have no sum", hint="write first.union_all(*others)")
            raise _no_operator("+", self, other, "union_all(other)")

        def __sub__(self, other: object) -> NoReturn:
            raise _no_operator("-", self, other, "subtract(other)")

        def __and__(self, other: object) -> NoReturn:
            raise _no_operator("&", self, other, "intersect(other)")

        def __or__(self, other: object) -> NoReturn:
            raise _no_operator("|", self, other, "union(other), or union_all(other)")

        def __mul__(self, other: object) -> NoReturn:
            raise _no_operator("*", self, other, "cross(other)")

        def __truediv__(self, other: object) -> NoReturn:
            raise _no_operator("/", self, other, None)

        __rsub__, __rmul__, __rtruediv__ = __sub__, __mul__, __truediv__
        __rand__, __ror__ = __and__, __or__


def _no_operator(operator: str, relation: object, other: object, verb: str | None) -> TypeMismatchError:
    """Return the error for an operator between a relation and something else."""
    if verb is not None and isinstance(other, AbsentOfRelations):
        hint = f"write relation.{verb}"
    elif operator in "&|":
        hint = "write relation.filter(condition)"
    else:
        hint = f'write relation.with_columns(x=col("x") {operator} ...) for a column'
    return TypeMismatchError(f"a relation has no {operator}", hint=hint)
