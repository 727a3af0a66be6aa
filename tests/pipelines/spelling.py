"""Types and values as programs spell them."""

from __future__ import annotations

from random import Random

from substrait_dsl.algebra import types as t

ADDRESS = t.Struct.of({"city": t.String(), "zip": t.I32(nullable=True)})
PERSON = t.Struct.of({"name": t.String(nullable=True), "address": ADDRESS.as_nullable()})
STRUCTS = {ADDRESS: "Address", PERSON: "Person"}
"""Structs that have a schema class, which annotations name."""

HEADER = """
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any, Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f


class Address(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.I32]


class Person(sd.Schema):
    name: sd.Nullable[sd.String]
    address: sd.Nullable[sd.Struct[Address]]


DICT4 = sd.TypeVariation("extension:test:variations", "dict4")
MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")
"""
"""What every program starts with."""

_COMMON: tuple[t.Type, ...] = (
    t.I64(), t.I64(), t.I64(), t.I32(), t.FP64(), t.Boolean(), t.String(), t.String(), t.Date(), t.Decimal(15, 2),
    t.PrecisionTimestamp(6),
)  # fmt: skip
_RARE = (
    *(kind() for kind in t.SIMPLE_TYPES if kind is not t.Unbound),
    *(kind(precision) for kind in t.PRECISION_TYPES for precision in (0, 3, 9)),
    *(kind(length) for kind in t.LENGTH_TYPES for length in (1, 10)),
    *(t.Decimal(*sizes) for sizes in ((38, 10), (10, 2), (7, 7), (1, 0))),
    *STRUCTS,
    t.UserDefined("extension:io.substrait:functions_geometry", "geometry"),
    t.String(variation=t.TypeVariation("extension:test:variations", "dict4")),
)


def random_type(random: Random, depth: int = 2) -> t.Type:
    """A type, more often one of those that functions take."""
    if depth and random.random() < 0.2:
        inner = random_type(random, depth - 1)
        type_: t.Type = t.List(inner) if random.random() < 0.5 else t.Map(t.String(), inner)
    else:
        type_ = random.choice(_COMMON if random.random() < 0.6 else _RARE)
    return type_.as_nullable() if random.random() < 0.4 else type_


def annotation(type_: t.Type) -> str | None:
    """A type as a schema class is annotated with it; None if it cannot be written so."""
    if type_.nullable:
        inner = annotation(type_.as_required())
        return inner and f"sd.Nullable[{inner}]"
    if type_.variation is not None:
        return None
    match type_:
        case t.Struct():
            names = [*t.struct_names(type_)]
            for known, name in STRUCTS.items():
                if known == type_ and [*t.struct_names(known)] == names:
                    return f"sd.Struct[{name}]"
            return None
        case t.UserDefined() | t.Func() | t.Unbound():
            return None
        case t.List() | t.Map():
            parts = [annotation(part) for part in type_.parameters]
            inside = ", ".join(part for part in parts if part)
            return f"sd.{type(type_).__name__}[{inside}]" if all(parts) else None
    sizes = ", ".join(f"L[{size}]" for size in type_.parameters)
    return f"sd.{type(type_).__name__}[{sizes}]" if sizes else f"sd.{type(type_).__name__}"


def value(type_: t.Type) -> str:
    """A type as a value: ``sd.Decimal(15, 2, nullable=True)``."""
    if isinstance(type_, t.Struct):
        fields = ", ".join(
            f'"{name}": {value(part)}' for name, part in zip(type_.field_names, type_.types, strict=True)
        )
        return f"sd.Struct.of({{{fields}}}{', nullable=True' if type_.nullable else ''})"
    arguments = [value(part) if isinstance(part, t.Type) else str(part) for part in type_.parameters]
    if isinstance(type_, t.UserDefined):
        arguments += [f'"{type_.urn}"', f'"{type_.name}"']
    arguments += ["variation=DICT4"] * (type_.variation is not None)
    arguments += ["nullable=True"] * type_.nullable
    return f"sd.{type(type_).__name__}({', '.join(arguments)})"


def spelled(type_: t.Type, random: Random) -> str:
    """A type in one of the forms in which verbs take it: an annotation, a value, a text."""
    forms = [value(type_)]
    if not any(word in str(type_) for word in ("struct", "dict4")):  # whose names a text does not say
        forms.append(f'"{type_}"')
    written = annotation(type_)
    if written:
        forms += [written, written]
    return random.choice(forms)


def literal(type_: t.Type, random: Random) -> str | None:
    """A Python value that an expression of a type takes; None if there is none to write."""
    match type_:
        case t.I8() | t.I16() | t.I32() | t.I64():
            return str(random.randint(-3, 9))
        case t.FP32() | t.FP64():
            return random.choice(("1.5", "-0.25", "2.0"))
        case t.Boolean():
            return random.choice(("True", "False"))
        case t.String():
            return random.choice(('"x"', '"%green%"', '""'))
        case t.VarChar():
            return '"y"'
        case t.FixedChar(length=length):
            return repr("z" * length)
        case t.Decimal(precision=precision, scale=scale) if precision > scale:
            return random.choice(("2", f'Decimal("{"0." + "5" * scale if scale else "3"}")'))
        case t.Date():
            return "dt.date(2020, 1, 31)"
        case t.PrecisionTimestamp():
            return "dt.datetime(2020, 1, 31, 12, 30)"
        case t.PrecisionTimestampTZ():
            return "dt.datetime(2020, 1, 31, tzinfo=dt.UTC)"
        case t.PrecisionTime():
            return "dt.time(12, 30)"
        case t.IntervalYear():
            return "sd.YearMonths(1, 6)"
        case t.IntervalDay():
            return random.choice(("dt.timedelta(days=1)", "sd.DaySeconds(1, 30)"))
        case t.Binary():
            return 'b"\\x01"'
        case t.UUID():
            return "uuid.UUID(int=7)"
        case t.List(element=element):
            inner = literal(element, random)
            return inner and f"[{inner}]"
    return None
