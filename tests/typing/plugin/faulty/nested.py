"""Structs, lists and maps: their parts, and putting them together."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers

derived = customers.select("id", "address", "tags", "notes")

customers.select(x=lambda c: c.address["zip"])
# E: select, column "x": there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
customers.select(x=lambda c: c.address[2])
# E: select, column "x": there is no field 2 in struct<string, string?>  [substrait-unknown-field]
customers.select(x=lambda c: c.address[1.5])
# E: select, column "x": a struct's field is named or numbered, got 1.5  [substrait-invalid-argument]
customers.select(x=lambda c: c.tags["first"])
# E: select, column "x": a list's element is given by its offset, an int, got 'first'  [substrait-invalid-argument]
customers.select(x=lambda c: c.notes[5])
# E: select, column "x": 5 does not fit string: it takes a str, not an int  [substrait-literal]
customers.select(x=lambda c: c.id[0])
# E: select, column "x": only structs, lists and maps have parts, this is i64  [substrait-type-mismatch]
customers.select(x=lambda c: c.address["city"] + 1)
# E: select, column "x": no overload takes add(string?, 1); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
customers.select(x=lambda c: c.tags[0] * 2)
# E: select, column "x": no overload takes multiply(string?, 2); cast argument 1 from string? to
#    fp64?  [substrait-function-not-found]
customers.select(x=lambda c: c.notes["a"] + "x")
# E: select, column "x": no overload takes add(i64?, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
customers.select(x=sd.col("address")["zip"])
# E: select, column "x": there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
customers.select(x=customers.c.address["zip"])
# E: there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
customers.select(x=customers["address"]["zip"])
# E: there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
customers.select(x=lambda c: c.address.keep("zip"))
# E: select, column "x": there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
customers.select(x=lambda c: c.address.keep())
# E: select, column "x": keep needs at least one field  [substrait-invalid-argument]
customers.select(x=lambda c: c.address.keep({"city": ["name"]}))
# E: select, column "x": keep takes parts of a struct, this is string?  [substrait-type-mismatch]
customers.select(x=lambda c: c.address.keep({"city": sd.elements(0)}))
# E: select, column "x": only a list has elements to keep, 'city' is string?  [substrait-type-mismatch]
customers.select(x=lambda c: c.address.keep({"city": sd.elements(2, 1)}))
# E: elements: elements are kept once and in their order, got 2, 1; whether a mask repeats elements, or puts them into
#    another order, the specification leaves open  [substrait-invalid-argument]
customers.select(x=lambda c: c.tags.keep("a"))
# E: select, column "x": keep takes parts of a struct, this is list<string>; a struct around it has a mask:
#    struct_of(xs=x).keep({"xs": elements(first=5)})["xs"]  [substrait-type-mismatch]
customers.filter(lambda c: c.address["city"] == 5)
# E: filter: no overload takes equal(string?, 5); cast argument 1 from string? to i64?, or write "5", a
#    text  [substrait-function-not-found]
customers.filter(lambda c: c.address == "Rome")
# E: filter: no overload takes equal(struct<string, string?>, 'Rome'); 'Rome' does not fit struct<string, string?>: it
#    takes a tuple or a dict, not a str  [substrait-function-not-found]
customers.sort(lambda c: c.address["zip"])
# E: sort: there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
derived.select(x=lambda c: c.address["zip"])
# E: select, column "x": there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
derived.select(x=lambda c: c.address["city"] + 1)
# E: select, column "x": no overload takes add(string?, 1); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
derived.select(x=lambda c: c.notes["a"] + "x")
# E: select, column "x": no overload takes add(i64?, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
derived.select(lambda c: c.address["city"]).select("cty")
# E: select: there is no column "cty"; there is "city"; did you mean "city"?  [substrait-unknown-field]
derived.filter(sd.col("address")["city"] == 5)
# E: filter: no overload takes equal(string?, 5); cast argument 1 from string? to i64?, or write "5", a
#    text  [substrait-function-not-found]
derived.filter(f.any_match(sd.col("tags"), lambda t: t > 5))
# E: filter: no overload takes gt(string, 5); cast argument 1 from string to i64, or write "5", a
#    text  [substrait-function-not-found]
derived.filter(lambda c: f.any_match(c.tags, lambda t: t > 5))
# E: filter: no overload takes gt(string, 5); cast argument 1 from string to i64, or write "5", a
#    text  [substrait-function-not-found]

customers.select(x=sd.struct_of(id=sd.col("idd")))
# E: struct_of, field "id": there is no column "idd"; there are "id", "name", "address", "tags", "notes"; did you mean
#    "id"?  [substrait-unknown-field]
customers.select(x=lambda c: sd.struct_of(id=c.id)["idd"])
# E: select, column "x": there is no field "idd" in struct<i64>; there is "id"; did you mean
#    "id"?  [substrait-unknown-field]
customers.select(x=lambda c: sd.struct_of(id=None))
# E: struct_of, field "id": a field is None; null(type) is a NULL; a lambda must return
#    something  [substrait-invalid-argument]
customers.select(x=lambda c: sd.struct_of(id=c.id)).select(y=lambda r: r.x["idd"])
# E: select, column "y": there is no field "idd" in struct<i64>; there is "id"; did you mean
#    "id"?  [substrait-unknown-field]
customers.select(x=lambda c: sd.list_of(c.id, c.name))
# E: list_of: the elements of a list must have one type: there is i64 and string; cast them to one
#    type  [substrait-type-mismatch]
customers.select(x=lambda c: sd.list_of())
# E: list_of: a list of no values has no type; write lit([], List(I64()))  [substrait-invalid-argument]
customers.select(x=lambda c: sd.list_of([c.id]))
# E: list_of: the values are given one by one, got [Expr(id: i64)]; write list_of(*values), or
#    lit(values)  [substrait-invalid-argument]
customers.select(x=lambda c: sd.map_of({"a": c.id, "b": c.name}))
# E: map_of: the values of a map must have one type: there is i64 and string; cast them to one
#    type  [substrait-type-mismatch]
customers.select(x=lambda c: sd.map_of({}))
# E: map_of: a map of no entries has no type; write lit({}, Map(String(), I64()))  [substrait-invalid-argument]
customers.select(x=lambda c: sd.map_of([(None, c.id)]))
# E: map_of: the keys of a map are never NULL, one is None  [substrait-type-mismatch]
customers.select(x=lambda c: sd.map_of({"a": c.id})).filter(lambda r: r.x["a"] == "b")
# E: filter: no overload takes equal(i64?, 'b'); 'b' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
sd.struct_of(a=f.sum(sd.col("id")))
# E: struct_of, field "a": a field is an expression, but sum is an aggregate function; name it in aggregate(...), then
#    use the column in with_columns(...); or give it a window: sum(...).over(...)  [substrait-type-mismatch]
sd.list_of(sd.lit(1), sd.lit("x"))
# E: list_of: the elements of a list must have one type: there is i64 and string; cast them to one
#    type  [substrait-type-mismatch]
customers.select(x=lambda c: sd.parameter(0, sd.I64) + c.name)
# E: select, column "x": no overload takes add(i64, string); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
sd.parameter("x", sd.I64)
# E: parameter: the number of a parameter is an int, got 'x'  [substrait-invalid-argument]
sd.parameter(0, int)
# E: parameter: int is no Substrait type; did you mean I64?  [substrait-invalid-argument]
sd.lambda_(sd.I64, lambda x: x)
# E: lambda_: expected a dict of types by parameter, got <class
#    'substrait_dsl.algebra.types.scalars.I64'>  [substrait-invalid-argument]
sd.ExtendedExpression(customers, x=lambda c: c.nme)
# E: ExtendedExpression, column "x": there is no column "nme"; there are "id", "name", "address", "tags", "notes"; did
#    you mean "name"?  [substrait-unknown-field]
sd.ExtendedExpression(customers, sd.col("nme"))
# E: ExtendedExpression: there is no column "nme"; there are "id", "name", "address", "tags", "notes"; did you mean
#    "name"?  [substrait-unknown-field]
