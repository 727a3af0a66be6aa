"""What editors and notebooks complete while a program runs: public names, and columns as items."""

from __future__ import annotations

import subprocess
import sys

import pytest

import substrait_dsl as sd

LOADED = """
import substrait_dsl as sd
orders = sd.read_named("orders", {"key": sd.I64})
orders.to_plan().to_bytes()
orders.explain()
print(*dir(sd))
"""
"""A program that has loaded many submodules of the package."""


class Address(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.String]


class People(sd.Schema):
    name: sd.String
    home: sd.Nullable[sd.Struct[Address]]


people = sd.read_named("people", People)


def test_the_package_shows_its_public_names_only() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60)
    assert sorted(done.stdout.split()) == sorted([*sd.__all__, "__version__"])


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (people, ["name", "home"]),
        (people.select("home", **{"a b": sd.col("name")}), ["home", "a b"]),
        (people.c, ["name", "home"]),
        (people.schema, ["name", "home"]),
        (people["home"], ["city", "zip"]),
        (people.c.home, ["city", "zip"]),
        (people.c.home["city"], []),
        (people.c.name, []),
        (people.select(both=lambda p: sd.struct_of(a=p.name, b=p.home)).c.both["b"], ["city", "zip"]),
        (sd.col("home"), []),  # a name of a row that is not known yet
        (sd.read_named("p", {"point": sd.Struct((sd.FP64(), sd.FP64()))}).c.point, []),  # its fields have no names
    ],
    ids=str,
)
def test_items_are_completed(value: object, names: list[str]) -> None:
    completed = value._ipython_key_completions_()  # type: ignore[attr-defined]  # each of them has it
    assert completed == names
    for name in completed:
        value[name]  # type: ignore[index]  # each of them has items
