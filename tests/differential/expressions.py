"""Random expressions: built with the library's operators and functions, of a wanted type, over given columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, ClassVar

import attrs

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from tests.differential.tables import DECIMAL, KINDS, MOMENT, PAIR, VALUES

f: Any = functions

INTEGERS: tuple[t.Type, ...] = (t.I8(), t.I16(), t.I32(), t.I64())
FLOATS: tuple[t.Type, ...] = (t.FP32(), t.FP64())
CASTS: dict[t.Type, tuple[t.Type, ...]] = {
    t.Boolean(): INTEGERS,
    **{type_: (*INTEGERS, t.Boolean(), DECIMAL) for type_ in INTEGERS},
    t.FP32(): (t.I8(), t.I16()),
    t.FP64(): (t.I8(), t.I16(), t.I32(), t.FP32(), DECIMAL),
    DECIMAL: INTEGERS,
    t.String(): (*INTEGERS, t.Boolean(), t.Date(), DECIMAL),
    t.Date(): (MOMENT,),
    MOMENT: (t.Date(),),
}
"""From which types each type is made by a cast."""

OVERFLOWING = ("SATURATE", "SILENT")


@attrs.frozen
class Column:
    """A column that expressions may refer to."""

    value: Any
    type: t.Type

    @property
    def kind(self) -> t.Type:
        return self.type.as_required()


def columns_of(row: Any, relation: sd.Relation[Any]) -> list[Column]:
    """The columns of the row of a lambda."""
    return [Column(row[number], field.type) for number, field in enumerate(relation.schema)]


def telling_apart(type_: t.Type) -> list[Callable[[int], Any]]:
    """What keys tell the different values of a type apart, in an order that the engines agree on, made of a column."""
    if type_.as_required() != PAIR:
        return [lambda column: column]
    return [
        lambda column: lambda r: r[column].is_null(),
        lambda column: lambda r: r[column]["a"],
        lambda column: lambda r: r[column]["b"],
    ]


class Expressions:
    """Builds expressions over some columns.

    Args:
        random: makes all choices.
        columns: the columns of the row.
        outer: those of rows further out.
        relations: builds a relation inside these rows; None where there are to be no subqueries.
    """

    def __init__(
        self,
        random: Random,
        columns: Sequence[Column],
        outer: Sequence[Column] = (),
        relations: Callable[[Sequence[Column]], sd.Relation[Any]] | None = None,
    ) -> None:
        self.random, self.columns, self.outer, self.relations = random, list(columns), list(outer), relations

    def some_kind(self) -> t.Type:
        """The type of some column, or any other."""
        kinds = [column.kind for column in self.columns if column.kind in VALUES]
        return self.random.choice(kinds) if kinds and self.random.random() < 0.7 else self.random.choice(KINDS)

    def of(self, type_: t.Type, depth: int = 2) -> Any:
        """An expression of a type, nullable or not."""
        choose = self.random.random()
        if depth <= 0 or choose < 0.35:
            return self.leaf(type_)
        if choose < 0.55:
            return self.choice(type_, depth - 1)
        own = self.OWN.get(type_)
        made = None if own is None else own(self, type_, depth - 1)
        return self.choice(type_, depth - 1) if made is None else made

    def leaf(self, type_: t.Type) -> Any:
        """A column, or else a constant."""
        found = [column for column in self.columns if column.kind == type_]
        further = [column for column in self.outer if column.kind == type_]
        if further and (not found or self.random.random() < 0.4):
            return self.random.choice(further).value
        if found and self.random.random() < 0.85:
            return self.random.choice(found).value
        return sd.null(type_) if self.random.random() < 0.08 else self.literal(type_)

    def literal(self, type_: t.Type) -> Any:
        """A constant that is not NULL."""
        return sd.lit(self.random.choice(VALUES[type_]), type_)

    def choice(self, type_: t.Type, depth: int) -> Any:
        """What can be said of any type: alternatives, casts, one value of a relation."""
        of = self.of
        match self.random.randrange(9):
            case 0:
                return sd.when(self.boolean(depth)).then(of(type_, depth)).otherwise(of(type_, depth))
            case 1:
                other = self.some_kind()
                cases = {self.random.choice(VALUES[other]): of(type_, depth) for _ in range(2)}
                otherwise = self.random.choice((None, of(type_, depth)))
                return sd.switch(self.valued(other, depth), cases, otherwise)
            case 2:
                return f.coalesce(of(type_, depth), of(type_, depth))
            case 3:
                return f.nullif(of(type_, depth), of(type_, depth))
            case 4 if type_ != PAIR:
                name = self.random.choice(("least", "greatest", "least_skip_null", "greatest_skip_null"))
                return getattr(f, name)(of(type_, depth), of(type_, depth))
            case 5 if self.relations is not None:
                made = self.scalar_subquery(type_)
                return self.leaf(type_) if made is None else made
            case 6 if type_ in (t.I32(), t.String()):
                return self.valued(PAIR, depth)["a" if type_ == t.I32() else "b"]
            case _ if type_ in CASTS:
                source = self.random.choice(CASTS[type_])
                return of(source, depth).cast(type_.as_nullable(), on_failure="return_null")
            case _:
                return self.leaf(type_)

    def valued(self, type_: t.Type, depth: int) -> Any:
        """An expression that is not just a constant, where there is a column to make it of."""
        found = [column.value for column in (*self.columns, *self.outer) if column.kind == type_]
        return self.random.choice(found) if found else self.of(type_, depth)

    # --- booleans

    def boolean(self, depth: int = 2) -> Any:
        """A condition."""
        of, type_ = self.of, self.some_kind()
        depth -= 1
        choose = self.random.randrange(22)
        if depth < 0 or choose < 6:
            ordered = () if type_ == PAIR else ("lt", "lte", "gt", "gte")
            name = self.random.choice(("equal", "not_equal", "not_equal", *ordered))
            return getattr(f, name)(self.valued(type_, depth), of(type_, depth))
        match choose:
            case 6 | 7:
                return self.random.choice((f.is_null, f.is_not_null))(self.valued(type_, depth))
            case 8 | 9:
                return self.boolean(depth) & self.boolean(depth)
            case 10 | 11:
                return self.boolean(depth) | self.boolean(depth)
            case 12:
                return ~self.boolean(depth)
            case 13:
                other = self.random.choice((f.xor, f.and_not))
                return other(self.boolean(depth), self.boolean(depth))
            case 14:
                name = self.random.choice(("is_true", "is_not_true", "is_false", "is_not_false"))
                return getattr(f, name)(self.boolean(depth))
            case 15:
                name = self.random.choice(("is_distinct_from", "is_not_distinct_from"))
                return getattr(f, name)(self.valued(type_, depth), of(type_, depth))
            case 16 if type_ != PAIR:
                return self.valued(type_, depth).between(of(type_, depth), of(type_, depth))
            case 17:
                options = [self.literal(type_), of(type_, depth), self.leaf(type_)][: self.random.randint(1, 3)]
                return self.valued(type_, depth).is_in(options)
            case 18:
                return self.text_test(depth)
            case 19 if type_ in FLOATS:
                return self.random.choice((f.is_nan, f.is_finite, f.is_infinite))(of(type_, depth))
            case 19 | 20 | 21 if self.relations is not None:
                return self.membership(type_, depth)
            case _:
                return self.leaf(t.Boolean())

    def text_test(self, depth: int) -> Any:
        text = self.valued(t.String(), depth)
        if self.random.random() < 0.4:
            return f.like(text, self.random.choice(("", "a%", "%b", "_", "%a%", "%%", "ab\\%_", "_%_")))
        name = self.random.choice(("starts_with", "ends_with", "contains"))
        return getattr(f, name)(text, self.of(t.String(), depth))

    # --- subqueries

    def rows(self) -> sd.Relation[Any]:
        """A relation that may refer to all columns here."""
        assert self.relations is not None
        return self.relations([*self.columns, *self.outer])

    def membership(self, type_: t.Type, depth: int) -> Any:
        rows = self.rows()
        found = [number for number, field in enumerate(rows.schema) if field.type.as_required() in VALUES]
        match self.random.randrange(6):
            case 0 | 1:
                return sd.exists(rows)
            case 2:
                return sd.unique(rows)
            case 3 if len(found) > 1:
                pair = self.random.sample(found, 2)
                kinds = [rows.schema[number].as_required() for number in pair]
                return sd.record(*(self.valued(each, depth) for each in kinds)).is_in(rows.emit(pair))
            case _ if found:
                number = self.random.choice(found)
                value_kind = rows.schema[number].as_required()
                value = self.valued(value_kind, depth)
                if self.random.random() < 0.4:
                    return value.is_in(rows.emit([number]))
                quantified = self.random.choice((sd.any_of, sd.all_of))(rows.emit([number]))
                return self.random.choice(
                    (
                        lambda: value == quantified,
                        lambda: value != quantified,
                        *(() if value_kind == PAIR else (lambda: value < quantified, lambda: value >= quantified)),
                    )
                )()
            case _:
                return sd.exists(rows)

    def scalar_subquery(self, type_: t.Type) -> Any:
        """One value: an aggregate over all rows, or the first of them in an order."""
        rows = self.rows()
        found = [number for number, field in enumerate(rows.schema) if field.type.as_required() == type_]
        if type_ == t.I64() and self.random.random() < 0.6:
            return sd.scalar_subquery(rows.aggregate(n=f.count()))
        if not found:
            return None
        number = self.random.choice(found)
        if type_ in (*INTEGERS, t.Date()) and self.random.random() < 0.7:
            return sd.scalar_subquery(rows.aggregate(n=lambda r: self.random.choice((f.min, f.max))(r[number])))
        one = rows.emit([number])
        keys = [key(0) for key in telling_apart(type_)]
        return sd.scalar_subquery(one.sort(*keys).fetch(1))

    # --- one method for the types that have operations of their own

    def integer(self, type_: t.Type, depth: int) -> Any:
        of = self.of
        match self.random.randrange(10):
            case 0 | 1 | 2:
                name = self.random.choice(("add", "subtract", "multiply"))
                return getattr(f, name)(of(type_, depth), of(type_, depth), overflow=self.random.choice(OVERFLOWING))
            case 3:
                name = self.random.choice(("negate", "abs"))
                return getattr(f, name)(of(type_, depth), overflow=self.random.choice(OVERFLOWING))
            case 4:
                number = sd.lit(self.random.choice((1, 2, -1, 3, -7)), type_)
                return f.divide(of(type_, depth), number, overflow=self.random.choice(OVERFLOWING))
            case 5:
                number = sd.lit(self.random.choice((1, 2, 3, -7)), type_)
                return f.modulus(of(type_, depth), number, division_type=self.random.choice(("TRUNCATE", "FLOOR")))
            case 6:
                name = self.random.choice(("bitwise_and", "bitwise_or", "bitwise_xor"))
                return getattr(f, name)(of(type_, depth), of(type_, depth))
            case 7 if type_ == t.I64():
                return f.strpos(of(t.String(), depth), self.random.choice(("a", "b", "%", "é")))
            case 8 if type_ == t.I64():
                return f.char_length(of(t.String(), depth))
            case 7 | 8 | 9 if type_ == t.I64():
                if self.random.random() < 0.5:
                    return f.extract("YEAR", of(self.random.choice((t.Date(), MOMENT)), depth))
                component = self.random.choice(("MONTH", "DAY", "DAY_OF_YEAR", "QUARTER"))
                return f.extract(component, "ONE", of(self.random.choice((t.Date(), MOMENT)), depth))
            case 9:
                return f.sign(of(type_, depth))
            case _:
                return None

    def floating(self, type_: t.Type, depth: int) -> Any:
        of = self.of
        match self.random.randrange(6):
            case 0 | 1:
                name = self.random.choice(("add", "subtract", "multiply"))
                return getattr(f, name)(of(type_, depth), of(type_, depth))
            case 2:
                return f.divide(of(type_, depth), sd.lit(self.random.choice((2.0, -4.0, 0.5)), type_))
            case 3:
                return self.random.choice((f.abs, f.negate, f.floor, f.ceil))(of(type_, depth))
            case _:
                return None

    def decimal(self, type_: t.Type, depth: int) -> Any:
        of = self.of
        match self.random.randrange(4):
            case 0 | 1:
                name = self.random.choice(("add", "subtract", "multiply"))
                made = getattr(f, name)(of(type_, depth), of(type_, depth))
            case 2:
                made = self.random.choice((f.abs, f.floor, f.ceil))(of(type_, depth))
            case _:
                return None
        return made.cast(type_.as_nullable(), on_failure="return_null")

    def text(self, type_: t.Type, depth: int) -> Any:
        first, word = self.of(type_, depth), self.random.choice(("a", "b", "ab", "%", "é"))
        match self.random.randrange(11):
            case 0 | 1:
                return f.concat(first, self.of(type_, depth))
            case 2:
                return self.random.choice((f.upper, f.lower))(f.replace(first, "ß", ""))
            case 3:
                return f.substring(first, self.random.randint(1, 3), self.random.randint(0, 3))
            case 4:
                return self.random.choice((f.trim, f.ltrim, f.rtrim))(first, self.random.choice((" ", "a", " a")))
            case 5:
                return f.replace(first, word, self.of(type_, depth))
            case 6:
                return self.random.choice((f.lpad, f.rpad))(first, self.random.randint(0, 4), word)
            case 7:
                return self.random.choice((f.left, f.right))(first, self.random.randint(0, 3))
            case 8:
                return f.repeat(first, self.random.randint(0, 2))
            case 9:
                return f.reverse(f.replace(first, "𝄞", ""))
            case _:
                return None

    def pair(self, type_: t.Type, depth: int) -> Any:
        a, b = (self.of(part.as_required(), depth).cast(part, on_failure="return_null") for part in PAIR.types)
        return sd.struct_of(a=a, b=b)

    OWN: ClassVar[dict[t.Type, Callable[[Expressions, t.Type, int], Any]]] = {
        t.Boolean(): lambda self, _, depth: self.boolean(depth),
        **dict.fromkeys(INTEGERS, integer),
        **dict.fromkeys(FLOATS, floating),
        DECIMAL: decimal,
        PAIR: pair,
        t.String(): text,
    }
