"""The syntax tree of types that are written as text.

One grammar serves three readers: types written in full (``decimal<15,2>?``), the argument patterns of extension files
(``decimal<P1,S1>``, ``list<any1>``) and the programs that compute a function's return type. `type_parser`
parses the trees, `type_text` makes types of them, and the catalogue matches and evaluates them.

Specification: ``grammar/SubstraitType.g4`` and https://substrait.io/types/type_parsing/.
"""

from __future__ import annotations

from typing import Literal, assert_never

import attrs

from substrait_dsl.algebra import types
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.types import Type, TypeVariation

FIXED_FORMS: tuple[type[Type], ...] = (
    *types.SIMPLE_TYPES, *types.LENGTH_TYPES, *types.PRECISION_TYPES, types.Decimal, types.List, types.Map,
)  # fmt: skip
"""The types with a fixed number of parameters."""

PARAMETER_NAMES: dict[str, tuple[str, ...]] = {
    type_class.keyword: tuple(field.name for field in attrs.fields(type_class) if field.init and not field.kw_only)
    for type_class in FIXED_FORMS
}
"""The names of the parameters of these types."""

KEYWORDS: dict[str, str] = {
    **{type_class.short_name: type_class.keyword for type_class in FIXED_FORMS},
    **{keyword: keyword for keyword in (*PARAMETER_NAMES, "struct", "nstruct", "func")},
}
"""Every word that names a type, long and short, with the long form."""

_SHORT_NAMES = {"nstruct": "struct", **{type_class.keyword: type_class.short_name for type_class in FIXED_FORMS}}

TYPES_OF_TYPES = frozenset({"list", "map", "struct", "nstruct", "func"})
"""The types whose parameters are types."""

ANY_LABELS = frozenset({"any", *(f"any{digit}" for digit in range(1, 10))})
"""The words that stand for any type; those with a digit stand for the same one everywhere."""

Operator = Literal["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"]


@attrs.frozen(eq=False, repr=False)
class TypeNode(FrozenValue):
    """A type or a type pattern: ``list<any1>?`` is a `list` of one parameter, nullable.

    `keyword` is the long lower-case name, ``any``, ``any1`` .. ``any9``, or ``u!`` for a user-defined type, whose
    `urn` and `name` say which. The last parameter of a `func` is what it returns. `names` are an ``nstruct``'s.
    """

    keyword: str
    parameters: tuple[Expression, ...] = ()
    nullable: bool = False
    variation: TypeVariation | None = None
    urn: str = ""
    name: str = ""
    names: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """The type's name in function signatures: ``i64``, ``dec``, ``any`` for every ``any1``, ``u!point``."""
        return "any" if self.is_any else _SHORT_NAMES.get(self.keyword, self.keyword + self.name)

    @property
    def is_any(self) -> bool:
        """Whether the node stands for any type."""
        return self.keyword in ANY_LABELS

    def __str__(self) -> str:
        variation = f"[{self.variation.name}]" if self.variation else ""
        inside = self._parameter_text()
        return f"{self.keyword}{self.name}{variation}{f'<{inside}>' if inside else ''}{'?' if self.nullable else ''}"

    def _parameter_text(self) -> str:
        if self.keyword == "func":
            *inputs, result = map(str, self.parameters)
            return f"{inputs[0] if len(inputs) == 1 else '(' + ', '.join(inputs) + ')'} -> {result}"
        if self.names:
            return ", ".join(f"{name}: {type_}" for name, type_ in zip(self.names, self.parameters, strict=True))
        return (", " if self.keyword in TYPES_OF_TYPES else ",").join(map(str, self.parameters))


@attrs.frozen(eq=False, repr=False)
class Name(FrozenValue):
    """A parameter of a type pattern (``P1``), or what a program assigned to that name."""

    text: str
    nullable: bool = False

    def __str__(self) -> str:
        return self.text + ("?" if self.nullable else "")


@attrs.frozen(eq=False, repr=False)
class Constant(FrozenValue):
    """A number, or a quoted text, boolean or null among the parameters of a user-defined type."""

    value: int | bool | str | None

    def __str__(self) -> str:
        return types.parameter_text(self.value)


@attrs.frozen(eq=False, repr=False)
class Call(FrozenValue):
    """A function of the derivation language: ``max(S1, S2)``."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@attrs.frozen(eq=False, repr=False)
class Unary(FrozenValue):
    """``!condition`` or ``-number``."""

    operator: Literal["!", "-"]
    operand: Expression

    def __str__(self) -> str:
        return f"{self.operator}{self.operand}"


@attrs.frozen(eq=False, repr=False)
class Binary(FrozenValue):
    """Two operands and the operator between them."""

    operator: Operator
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left} {self.operator} {self.right})"


@attrs.frozen(eq=False, repr=False)
class Conditional(FrozenValue):
    """``if a then b else c``, also written ``a ? b : c``."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def __str__(self) -> str:
        return f"if {self.condition} then {self.then} else {self.otherwise}"


Expression = TypeNode | Name | Constant | Call | Unary | Binary | Conditional


@attrs.frozen(eq=False, repr=False)
class Program(FrozenValue):
    """A return type: assignments, one a line, and the type that comes out. Most programs are just the type."""

    assignments: tuple[tuple[str, Expression], ...]
    result: Expression

    def expressions(self) -> tuple[Expression, ...]:
        """Return the assigned expressions, in order, and the type that is returned."""
        return (*(value for _, value in self.assignments), self.result)

    def __str__(self) -> str:
        return "\n".join([*(f"{name} = {value}" for name, value in self.assignments), str(self.result)])


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside an expression."""
    match expression:
        case TypeNode():
            return expression.parameters
        case Call():
            return expression.arguments
        case Unary():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Conditional():
            return (expression.condition, expression.then, expression.otherwise)
        case Name() | Constant():
            return ()
        case _:
            assert_never(expression)
