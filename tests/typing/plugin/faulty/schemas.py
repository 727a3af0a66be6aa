"""Schema classes, their instances, `into` and `as_`; types as values."""

from typing import Any, Final
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders, parts


class Total(sd.Schema):
    part: sd.I64
    total: sd.Nullable[sd.I64]


class Named(sd.Schema):
    id: sd.I64
    comment: sd.String


class More(Named):
    rank: sd.I32


items.into(lambda i: Total(part=i.part))
# E: Missing named argument "total" for "Total"  [call-arg]
items.into(lambda i: Total(part=i.part, total=i.quantity))
# E: Argument "total" to "Total" has incompatible type "Expr[I32, Req]"; expected "Expr[I64, Null]"  [arg-type]
items.into(lambda i: Total(part=i.part, total=i.order, more=i.order))
# E: Unexpected keyword argument "more" for "Total"  [call-arg]
items.into(lambda i: Total(part=i.part, totl=i.order))
# E: Unexpected keyword argument "totl" for "Total"; did you mean "total"?  [call-arg]
items.into(lambda i: Total(part=i.prt, total=i.order))
# E: "Items" has no attribute "prt"; maybe "part"?  [attr-defined]
items.into(lambda i: Total(i.part, i.order))
# E: Too many positional arguments for "Total"  [call-arg]
items.into(lambda i: i)
# E: into: the lambda returns an instance of a Schema class, got Row(order: i64, part: i64, quantity:
#    i32)  [substrait-invalid-argument]
items.into(lambda i: i.part)
# E: into: the lambda returns an instance of a Schema class, got Expr(part: i64)  [substrait-invalid-argument]
items.into(Total)
# E: into: Total(**columns: 'ExprBase') -> 'None' does not take one row  [substrait-invalid-argument]
items.into(lambda i: Total(part=sd.col("part"), total=sd.col("quantity")))
# E: into: the columns are not those of Total: total is i32, declared i64?  [substrait-schema]
items.into(lambda i: Total(part=sd.col("prt"), total=sd.col("order")))
# E: into: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.into(lambda i: Total(part=f.sum(i.part), total=i.order))
# E: Argument "part" to "Total" has incompatible type "Measure[I64, Null]"; expected "Expr[I64, Req]"  [arg-type]
orders.into(lambda o: Named(id=o.id, comment=o.comment))
# E: Argument "comment" to "Named" has incompatible type "Expr[String, Null]"; expected "Expr[String, Req]"  [arg-type]
orders.into(lambda o: Named(id=o.rank, comment=f.coalesce(o.comment, "")))
# E: Argument "id" to "Named" has incompatible type "Expr[I32, Null]"; expected "Expr[I64, Req]"  [arg-type]
# E: Argument "comment" to "Named" has incompatible type "Expr[String, Null]"; expected "Expr[String, Req]"  [arg-type]
orders.into(lambda o: More(id=o.id, comment=sd.lit("x", sd.String)))
# E: Missing named argument "rank" for "More"  [call-arg]
orders.select("id", "comment").into(lambda o: Named(id=o.id, comment=o.comment))
# E: Argument "comment" to "Named" has incompatible type "Expr[String, Null]"; expected "Expr[String, Req]"  [arg-type]
orders.select("id", "comment").into(lambda o: Named(id=o.idd, comment=sd.lit("x", sd.String)))
# E: into: there is no column "idd"; there are "id", "comment"; did you mean "id"?  [substrait-unknown-field]
orders.into(lambda o: Named(id=o.id, comment=sd.lit("x", sd.String))).select("rank")
# E: select: there is no column "rank"; there are "id", "comment"  [substrait-unknown-field]

items.as_(Total)
# E: as_: the columns are not those of Total: total is missing; order is not declared; quantity is not
#    declared  [substrait-schema]
items.as_("Total")
# E: as_: expected a Schema class, got 'Total'  [substrait-invalid-argument]
items.as_({"part": "i64"})
# E: as_: expected a Schema class, got {'part': 'i64'}  [substrait-invalid-argument]
items.select("part", total="DE")
# E: select, column "total": there is no column "DE"; there are "order", "part", "quantity"; lit('DE') is a constant
#    text  [substrait-unknown-field]
items.select("part", total=sd.col("order")).as_(Items)
# E: as_: the columns are not those of Items: order is missing; quantity is missing; total is not
#    declared  [substrait-schema]
items.select(total=sd.col("order"), part=sd.col("part")).as_(Total)
# E: as_: the columns are in another order: total, part instead of part, total; select("part", "total")
#    first  [substrait-schema]
items.select("part", total=sd.col("quantity")).as_(Total)
# E: as_: the columns are not those of Total: total is i32, declared i64?  [substrait-schema]
orders.select("id", "comment").as_(Named)
# E: as_: the columns are not those of Named: comment is nullable (string?), declared required; declare it
#    Nullable[...], or give it a value and say so: functions.coalesce(x, ...).assert_not_null()  [substrait-schema]
orders.select("id", "comment", "rank").as_(More)
# E: as_: the columns are not those of More: comment is nullable (string?), declared required; rank is nullable (i32?),
#    declared required; declare it Nullable[...], or give it a value and say so: functions.coalesce(x,
#    ...).assert_not_null()  [substrait-schema]
parts.as_(Items).select("part")
# E: as_: the columns are not those of Items: order is missing; quantity is missing; label is not
#    declared  [substrait-schema]
items.group_by("part").agg(total=lambda i: f.sum(i.order)).as_(Items)
# E: as_: the columns are not those of Items: order is missing; quantity is missing; total is not
#    declared  [substrait-schema]
items.group_by("part").agg(total=lambda i: f.avg(i.quantity)).as_(Total)
# E: as_: the columns are not those of Total: total is i32?, declared i64?  [substrait-schema]
(
    items.group_by("part")
    .agg(total=lambda i: f.sum(i.order))
    .as_(Total)
    .filter(
        lambda t: t.total > "5",
        # E: filter: no overload takes gt(i64?, '5'); '5' does not fit i64: it takes an int, not a str; write 5, a
        #    number  [substrait-function-not-found]
    )
)

sd.Decimal(2, 3)
# E: scale of Decimal must not exceed its precision, got Decimal(2, 3)  [substrait-invalid-argument]
sd.Decimal(39, 2)
# E: precision of Decimal must be an integer from 1 to 38, got 39  [substrait-invalid-argument]
sd.FixedChar(0)
# E: length of FixedChar must be an integer from 1 to 2147483647, got 0  [substrait-invalid-argument]
sd.PrecisionTimestamp(13)
# E: precision of PrecisionTimestamp must be an integer from 0 to 12, got 13  [substrait-invalid-argument]
sd.List(sd.String)
# E: element of List must be a type such as I64(), got <class 'substrait_dsl.algebra.types.scalars.String'>; write
#    String()  [substrait-invalid-argument]
sd.Struct.of({"a": int})
# E: Dict entry 0 has incompatible type "str": "type[int]"; expected "str": "Type"  [dict-item]
sd.parse_type("strng")
# E: cannot read the type "strng": expected the name of a type at column 1, got "strng"; did you mean
#    "string"?  [substrait-plan-format]
sd.parse_type(5)
# E: expected the text of a type, got 5  [substrait-invalid-argument]
sd.I64(nullable="no")
# E: nullable of I64 must be True or False, got 'no'  [substrait-invalid-argument]
sd.read_named("t", {"price": sd.Decimal(2, 3)})
# E: scale of Decimal must not exceed its precision, got Decimal(2, 3)  [substrait-invalid-argument]
orders.c.id.cast(sd.Decimal(2, 3))
# E: scale of Decimal must not exceed its precision, got Decimal(2, 3)  [substrait-invalid-argument]
orders.select(x=lambda o: o.id.cast(sd.Decimal(39, 2)))
# E: select, column "x": precision of Decimal must be an integer from 1 to 38, got 39  [substrait-invalid-argument]
sd.read_named("t", {"price": sd.Decimal[L[2], L[3]]})
# E: read_named, column "price": scale of Decimal must not exceed its precision, got Decimal(2,
#    3)  [substrait-invalid-argument]


# Types without their parameters, which mypy takes for any.


class BareDecimal(sd.Schema):
    price: sd.Decimal
    # E: BareDecimal: column "price": Decimal needs its parameters; write Decimal(...) or Decimal[L[...],
    #    L[...]]  [substrait-schema]


class BareText(sd.Schema):
    note: sd.Nullable[sd.VarChar]
    # E: BareText: column "note": VarChar needs its parameters; write VarChar(...) or
    #    VarChar[L[...]]  [substrait-schema]


class BareList(sd.Schema):
    tags: sd.List
    # E: BareList: column "tags": List needs its parameters; write List(...) or List[...]  [substrait-schema]


class BareInside(sd.Schema):
    prices: sd.Map[sd.String, sd.Decimal]
    # E: BareInside: column "prices": Decimal needs its parameters; write Decimal(...) or Decimal[L[...],
    #    L[...]]  [substrait-schema]


class AnyType(sd.Schema):
    value: Any
    # E: AnyType: column "value": Any is no Substrait type  [substrait-schema]


# What is no type at all, though it is of this library.


class Street(sd.Schema):
    name: sd.String


class OfClass(sd.Schema):
    street: Street
    # E: OfClass: column "street": Street is no Substrait type; write Struct[Street]  [substrait-schema]


class OfExpression(sd.Schema):
    part: sd.Expr[sd.I64]
    # E: OfExpression: column "part": Expr is no Substrait type  [substrait-schema]


class OfAllTypes(sd.Schema):
    part: sd.Type
    # E: OfAllTypes: column "part": Type is no Substrait type  [substrait-schema]


class OfNull(sd.Schema):
    part: sd.Null
    # E: OfNull: column "part": Null is no Substrait type  [substrait-schema]


class BareStruct(sd.Schema):
    street: sd.Struct
    # E: BareStruct: column "street": Struct needs its parameters; write Struct.of({...}) or Struct[...], of a schema
    #    class  [substrait-schema]


class OfNoClass(sd.Schema):
    street: sd.Struct[sd.I64]
    # E: OfNoClass: column "street": Struct[...] takes a Schema class, got <class
    #    'substrait_dsl.algebra.types.scalars.I64'>  [substrait-schema]


class Fixed(sd.Schema):
    part: Final[sd.I64]
    # E: Fixed: column "part": Final is no Substrait type  [substrait-schema]


class Versioned:
    version: int = 3


class Mixed(Versioned, sd.Schema):
    # E: Mixed: column "version": int is no Substrait type; did you mean I64?  [substrait-schema]
    part: sd.I64


class Private(sd.Schema):
    part: sd.I64
    __secret: sd.I64
    # E: Private: column "__secret": a name that begins with two underscores is Python's own in a class; declare the
    #    columns by a dict {name: type}  [substrait-schema]


# What is written in the body of a class, and declares no column as it stands.


class WithoutColons(sd.Schema):
    part: sd.I64
    price = sd.FP64
    # E: WithoutColons: "price" is a type, and declares no column; write "price: " for "price = "  [substrait-schema]
    cost = sd.FP64()
    # E: WithoutColons: "cost" is a type, and declares no column; write "cost: " for "cost = "  [substrait-schema]
    note = sd.Nullable[sd.String]
    # E: WithoutColons: "note" is a type, and declares no column; write "note: " for "note = "  [substrait-schema]


class WithDefault(sd.Schema):
    part: sd.I64 = sd.I64()
    # E: WithDefault: column "part" has a value, but columns have no defaults  [substrait-schema]


class WithoutColumns(sd.Schema):
    LIMIT = 5


sd.read_named("parts", WithoutColumns)
# E: read_named: a schema needs at least one column  [substrait-schema]
