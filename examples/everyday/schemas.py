"""The tables of a small shop that the pipelines read, and the files that come from elsewhere."""

from __future__ import annotations

from typing import Literal as L

import substrait_dsl as sd

Amount = sd.Decimal[L[9], L[2]]
Time = sd.PrecisionTimestamp[L[6]]


class Click(sd.Schema):
    """A page that a user looked at."""

    user: sd.I64
    at: Time
    page: sd.String


class Order(sd.Schema):
    """An order of a customer; the region is not always known, nor the amount of a draft."""

    id: sd.I64
    customer: sd.I64
    day: sd.Date
    region: sd.Nullable[sd.String]
    status: sd.String
    amount: sd.Nullable[Amount]


class Profile(sd.Schema):
    """A customer's profile as it was at a time: there are several of most."""

    customer: sd.I64
    updated: Time
    name: sd.String
    email: sd.Nullable[sd.String]


class Address(sd.Schema):
    """Where a basket goes."""

    city: sd.String
    zip: sd.Nullable[sd.String]


class Item(sd.Schema):
    """A line of a basket."""

    sku: sd.String
    pieces: sd.I32
    price: Amount


class Basket(sd.Schema):
    """What is bought at once; it may be empty."""

    id: sd.I64
    address: sd.Struct[Address]
    items: sd.List[sd.Struct[Item]]


class Request(sd.Schema):
    """How long a request took; one that was broken off took no time that is known."""

    path: sd.String
    milliseconds: sd.Nullable[sd.I32]


class Trade(sd.Schema):
    """A trade of a share."""

    id: sd.I64
    symbol: sd.String
    at: Time


class Quote(sd.Schema):
    """What a share costs from a time on."""

    symbol: sd.String
    at: Time
    price: Amount


class Home(sd.Schema):
    """Where a customer lives from a day on, until another; where customers live now has no end."""

    customer: sd.I64
    city: sd.String
    since: sd.Date
    until: sd.Nullable[sd.Date]


class Move(sd.Schema):
    """A customer's city, as it was reported on a day; it need not be another one."""

    customer: sd.I64
    city: sd.String
    day: sd.Date


class Signup(sd.Schema):
    """A line of a CSV file."""

    id: sd.Nullable[sd.I64]
    email: sd.Nullable[sd.String]
    day: sd.Nullable[sd.Date]
    credit: sd.Nullable[Amount]


class Sale(sd.Schema):
    """A sale, in a folder of Parquet files for each day and region."""

    id: sd.I64
    amount: sd.Nullable[Amount]
    day: sd.Date
    region: sd.String
