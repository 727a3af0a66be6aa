"""Value expressions: they evaluate to a value in the scope of a binding tuple."""

from __future__ import annotations

from typing import ClassVar

import attrs

from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, quote, suggestion
from substrait_dsl.partiql.node import BindingsExpr, Form, Node, ValueExpr, part
from substrait_dsl.partiql.operations import FUNCTIONS, OPERATORS
from substrait_dsl.partiql.values import Value, identity, levels, to_value


@attrs.frozen
class Id(ValueExpr):
    """``(id f)``: a variable of the binding tuple, or of an enclosing one, or a table."""

    head: ClassVar[str] = "id"
    name: str = part(Form.NAME)

    def _free(self) -> frozenset[str]:
        return frozenset((self.name,))


@attrs.frozen
class Lit(ValueExpr):
    """``(lit 42)``: a constant."""

    head: ClassVar[str] = "lit"
    value: Value = part(Form.DATA, converter=to_value, eq=identity)

    def _levels_inside(self) -> int:
        return levels(self.value)


@attrs.frozen
class Path(ValueExpr):
    """``(path (id f) (lit FooId))``: an attribute of a struct by its name, or an element of a list by its index."""

    head: ClassVar[str] = "path"
    root: ValueExpr = part(Form.VALUE)
    steps: tuple[ValueExpr, ...] = part(Form.VALUES)

    def _validate(self) -> None:
        if not self.steps:
            raise InvalidArgumentError("it has no step", hint="(path (id f) (lit name))")


@attrs.frozen
class ExprPair(Node):
    """``(expr_pair (lit fid) (id f))``: an attribute of a struct expression."""

    head: ClassVar[str] = "expr_pair"
    name: ValueExpr = part(Form.VALUE)
    value: ValueExpr = part(Form.VALUE)


@attrs.frozen
class StructExpr(ValueExpr):
    """``(struct (expr_pair k v) ..)``: a struct with these attributes, without those whose value is missing."""

    head: ClassVar[str] = "struct"
    pairs: tuple[ExprPair, ...] = part(Form.REST, ExprPair)


@attrs.frozen
class ListExpr(ValueExpr):
    """``(list a b)``: a list of these values."""

    head: ClassVar[str] = "list"
    items: tuple[ValueExpr, ...] = part(Form.VALUES)


@attrs.frozen
class BagExpr(ValueExpr):
    """``(bag a b)``: a bag of these values."""

    head: ClassVar[str] = "bag"
    items: tuple[ValueExpr, ...] = part(Form.VALUES)


@attrs.frozen
class Operator(ValueExpr):
    """``(eq a b)``, ``(and p q)``, ``(plus x y)``: one of `OPERATORS`."""

    op: str
    operands: tuple[ValueExpr, ...] = part(Form.VALUES)

    def _validate(self) -> None:
        known = OPERATORS.get(self.op)
        if known is None:
            raise InvalidChoiceError(f"there is no operator {self.op!r}", hint=suggestion(self.op, OPERATORS))
        if not known.takes(len(self.operands)):
            raise InvalidArgumentError(
                f"{self.op} takes {known.arity('operand')}, got {len(self.operands)}",
                hint="a parenthesis of the path may be in the wrong place"
                if len(self.operands) == 1 and isinstance(self.operands[0], Path)
                else None,
            )


@attrs.frozen
class Call(ValueExpr):
    """``(call struct_concat a b)``: one of `FUNCTIONS` of these arguments."""

    head: ClassVar[str] = "call"
    function: str = part(Form.NAME)
    arguments: tuple[ValueExpr, ...] = part(Form.VALUES)

    def _validate(self) -> None:
        known = FUNCTIONS.get(self.function)
        if known is None:
            is_operator = self.function in OPERATORS
            hint = f"write ({self.function} ..)" if is_operator else suggestion(self.function, FUNCTIONS)
            message = f"there is no function {self.function!r}; there are {quote(sorted(FUNCTIONS), limit=60)}"
            raise InvalidChoiceError(message, hint=hint)
        if not known.takes(len(self.arguments)):
            raise InvalidArgumentError(
                f"{self.function} takes {known.arity('argument')}, got {len(self.arguments)}",
            )


@attrs.frozen
class MapValues(ValueExpr):
    """``(map_values e b)``: the value of an expression for each binding tuple; a bag or a list, as the tuples are."""

    head: ClassVar[str] = "map_values"
    value: ValueExpr = part(Form.VALUE)
    source: BindingsExpr = part(Form.BINDINGS)

    def _free(self) -> frozenset[str]:
        return self.source.free_among(self.value)


@attrs.frozen
class Pivot(ValueExpr):
    """``(pivot k v b)``: one struct with an attribute for each binding tuple."""

    head: ClassVar[str] = "pivot"
    name: ValueExpr = part(Form.VALUE)
    value: ValueExpr = part(Form.VALUE)
    source: BindingsExpr = part(Form.BINDINGS)

    def _free(self) -> frozenset[str]:
        return self.source.free_among(self.name, self.value)


AnyValueExpr = Id | Lit | Path | StructExpr | ListExpr | BagExpr | Operator | Call | MapValues | Pivot
"""All value expressions."""
