"""Classes of Python that declare columns."""

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, ClassVar, List, Literal, NamedTuple, NewType, Optional, Required, TypedDict  # noqa: UP035

import attrs
from pydantic import AwareDatetime, BaseModel, Field

import substrait_dsl as sd

Key = NewType("Key", int)
Money = Annotated[Decimal, sd.Decimal(15, 2)]
Comment = str | None


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class City(sd.Schema):
    name: sd.String


@dataclasses.dataclass
class Point:
    x: float
    y: "float | None"


@dataclasses.dataclass
class Keyed:
    key: Key
    color: Color = Color.RED


@dataclasses.dataclass(kw_only=True)
class Order(Keyed):
    limit: ClassVar[int] = 3
    scale: dataclasses.InitVar[int] = 0
    level: Level
    price: Annotated[Decimal, sd.Decimal(15, 2)]
    cost: Money
    comment: Comment
    place: Point | None
    route: list[Point]
    tags: Mapping[str, Sequence[int]]
    day: dt.date
    at: dt.datetime
    state: Literal["open", "closed", None]
    pieces: Annotated[int, sd.I32]
    code: Annotated[str, "five letters", sd.VarChar[sd.L[5]]]
    id: uuid.UUID
    city: City
    span: dt.timedelta = dt.timedelta()


class Part(TypedDict):
    key: int


class Wheel(Part):
    name: Required[str]
    raw: bytes


class Pair(NamedTuple):
    first: tuple[int, ...]
    second: Optional[Wheel]  # noqa: UP045


@attrs.define
class Counter:
    count: int = attrs.field(default=1)
    share: Optional[float] = None  # noqa: UP045


class Reading(BaseModel):
    count: int = Field(gt=0)
    value: Decimal = Field(max_digits=12, decimal_places=3)
    other: Annotated[Decimal, Field(max_digits=5, decimal_places=1)]
    at: AwareDatetime
    local: dt.datetime | None = None
    _private: int = 3


class Marked(Reading):
    marks: List[str]  # noqa: UP006


class Outer:
    @dataclasses.dataclass
    class Inner:
        x: int


class Half(TypedDict, total=False):
    key: Required[int]
    name: str


@dataclasses.dataclass
class NoDigits:
    price: Decimal


@dataclasses.dataclass
class Itself:
    me: "Itself | None"


@dataclasses.dataclass
class OneOf:
    x: int | str


@dataclasses.dataclass
class Plain:
    x: object
