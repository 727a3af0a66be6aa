"""The tables of the grid."""

from __future__ import annotations

from typing import Final

import substrait_dsl as sd
from substrait_dsl import L

METER: Final = "meter_id"
STATION: Final = "station_id"


class Address(sd.Schema):
    street: sd.String
    town: sd.Nullable[sd.String]
    zip_code: sd.String


class Meter(sd.Schema):
    meter_id: sd.I64
    station_id: sd.I32
    customer_id: sd.Nullable[sd.I64]
    serial: sd.String
    installed_on: sd.Date
    removed_on: sd.Nullable[sd.Date]
    is_smart: sd.Boolean
    address: sd.Struct[Address]
    phases: sd.List[sd.I32]
    tags: sd.Map[sd.String, sd.String]


class Reading(sd.Schema):
    meter_id: sd.I64
    read_at: sd.PrecisionTimestamp[L[6]]
    kwh: sd.Decimal[L[12], L[3]]
    voltage: sd.FP64
    quality: sd.Nullable[sd.String]


class Station(sd.Schema):
    station_id: sd.I32
    station_name: sd.String
    region: sd.String
    capacity_kw: sd.FP64
    opened_on: sd.Date


class Customer(sd.Schema):
    customer_id: sd.I64
    name: sd.String
    email: sd.Nullable[sd.String]
    tariff_code: sd.String
    since: sd.Date


class Tariff(sd.Schema):
    tariff_code: sd.String
    per_kwh: sd.Decimal[L[6], L[4]]
    monthly_fee: sd.Decimal[L[8], L[2]]
    valid_from: sd.Date
    valid_to: sd.Nullable[sd.Date]


class Outage(sd.Schema):
    outage_id: sd.I64
    station_id: sd.I32
    started_at: sd.PrecisionTimestamp[L[6]]
    ended_at: sd.Nullable[sd.PrecisionTimestamp[L[6]]]
    cause: sd.String
    affected: sd.I32


class Crew(sd.Schema):
    crew_id: sd.I32
    crew_name: sd.String
    region: sd.String
    members: sd.List[sd.String]


class Payment(sd.Schema):
    payment_id: sd.I64
    customer_id: sd.I64
    amount: sd.Decimal[L[10], L[2]]
    paid_on: sd.Date
    reference: sd.Nullable[sd.String]


meters = sd.read_named(("grid", "meters"), Meter)
readings = sd.read_named(("grid", "readings"), Reading)
stations = sd.read_named(("grid", "stations"), Station)
customers = sd.read_named(("crm", "customers"), Customer)
tariffs = sd.read_named(("crm", "tariffs"), Tariff)
outages = sd.read_named(("grid", "outages"), Outage)
crews = sd.read_named(("grid", "crews"), Crew)
payments = sd.read_named(("crm", "payments"), Payment)
