"""Columns whose types stand in metadata, which mypy does not keep: what is said of the others is known."""

from typing import Annotated

import substrait_dsl as sd

POINT = sd.UserDefined("extension:io.substrait:extension_types", "point")


class Places(sd.Schema):
    id: sd.I64
    at: Annotated[sd.UserDefined, POINT]
    near: sd.Nullable[sd.List[Annotated[sd.UserDefined, POINT]]]
    box: Annotated[sd.Struct[sd.DynRow], sd.Struct((sd.FP64(), sd.FP64()))]
    twice: Annotated[sd.Func, sd.Func((sd.I64(),), sd.I64())]
    name: Annotated[sd.String, "of people", "of maps"]


class Towns(Places):
    people: sd.I64


places = sd.read_named("places", Places)
sd.reveal_schema(places.drop("at", "near", "box", "twice"))
# N: Schema is id: i64, name: string
sd.reveal_schema(sd.read_named("towns", Towns).select("name", more=lambda t: t.people + t.id))
# N: Schema is name: string, more: i64
places.select("id", "at", "near", "box", "twice", "name").as_(Places)
