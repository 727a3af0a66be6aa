"""Columns beside others whose types stand in metadata, and columns that no schema class declares."""

from typing import Annotated

import substrait_dsl as sd


class Places(sd.Schema):
    id: sd.I64
    at: Annotated[sd.UserDefined, sd.UserDefined("extension:io.substrait:extension_types", "point")]
    name: sd.String


places = sd.read_named("places", Places)

sd.reveal_schema(places)
# N: Schema is id: i64, at: unknown, name: string
places.select("place")
# E: select: there is no column "place"; there are "id", "at", "name"  [substrait-unknown-field]
places.filter(lambda p: p.name == 1)
# E: filter: no overload takes equal(string, 1); cast argument 1 from string to i64, or write "1",
#    a text  [substrait-function-not-found]
sd.reveal_schema(places.select("id").rename(id="a b"), "Keys")
# E: reveal_schema: Keys: "a b" can be no attribute of a class; rename it first: rename({"a b": ...}); or declare the
#    columns by a dict {name: type}  [substrait-schema]
sd.reveal_schema(places.select("id"), "a b")
# E: reveal_schema: the name of a schema class is an identifier of Python, and does not begin with two underscores,
#    got 'a b'  [substrait-invalid-argument]
