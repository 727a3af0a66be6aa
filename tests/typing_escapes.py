"""Generated programs that try to have their checker run something, or compute for ever."""

from __future__ import annotations

import warnings
from random import Random

HEADER = """\
import datetime as dt
import enum
import os
import subprocess
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import canary
import substrait_dsl as sd
from substrait_dsl import functions as f


class A(sd.Schema):
    key: sd.I64
    name: sd.String

    def touch(self) -> str:
        return canary.touch()


class Color(enum.Enum):
    RED = "key"


class Own:
    def __init__(self) -> None:
        canary.touch()

    def __getattr__(self, name: str) -> str:
        return canary.touch()

    def __str__(self) -> str:
        return canary.touch()


def touch(*_: Any) -> str:
    return canary.touch()


t = sd.read_named("t", A)
"""

CANARY = """\
import pathlib


def touch() -> str:
    pathlib.Path("PWNED").touch()
    return "key"


touch()
"""
"""A module of the project that is checked: nobody imports it, and nobody calls its function."""

BASES = (
    *('sd.col("key")', "t", '"{}"', 'b""', "1", "1.5", "None", "dt.date(2024, 1, 1)", 'Decimal("1")'),
    *("uuid.UUID(int=1)", "(1,)", '["key"]', '{"key": "i64"}', "(lambda r: r)", "sd.I64", "sd.Decimal(15, 2)", "A"),
    *("f.sum", "f.count()", "sd", "f", "dt", "t.schema", "t.filter", "t.c", 'sd.when(sd.col("key") > 1)', "str"),
    *("dict", "type", "object", '(x for x in "a")', "sd.Nullable", "Color.RED", "sd.lit", "sd.read_named", "Own()"),
    *("sd.Struct.of", 'sd.lambda_({"x": sd.I64}, lambda x: x)', "touch", "A.touch", "print", "sd.functions", "list"),
)
STEPS = (
    *(".__class__", ".__init__", ".__globals__", ".__mro__", "[-1]", "[0]", ".__subclasses__()", ".__dict__", "()"),
    *(".__builtins__", '["__builtins__"]', '["os"]', '.system("touch PWNED")', '("os")', ".__self__", ".__func__"),
    *(".__code__", ".__reduce_ex__(2)", ".__getattribute__", '("__init__")', '("__globals__")', ".__module__"),
    *(".__wrapped__", ".__call__", ".gi_frame", ".f_globals", ".__doc__", ".mro()", ".__base__", ".__closure__"),
    *('["__import__"]', ".modules", '.__format__("x")', ".format", "(t)", ".format_map", ".__init_subclass__"),
    *(".__get__", ".__class_getitem__", '("PWNED", "w")', ".open", ".load", '("secret.yaml")', ".save", "._catalog"),
    *(".with_extension", ".execute", ".explain", ".collect", ".to_plan()", ".touch", "._standard", ".__signature__"),
)
ESCAPES = (
    '{b}.__getattribute__("__init__").__getattribute__("__globals__")["__builtins__"]["__import__"]("os")'
    '.system("touch PWNED")',
    '{b}.__class__.__init__.__globals__["__builtins__"]["open"]("PWNED", "w")',
    '{b}.__init__.__globals__["sys"].modules["os"].system("touch PWNED")',
    "{b}.__class__.__mro__[-1].__subclasses__()",
    '{b}.__reduce_ex__(2)[0]("os")',
    '"{{0.__class__.__init__.__globals__}}".format({b})',
    '"{{x.__class__}}".format_map({{"x": {b}}})',
    '"%s" % {b}',
    "str({b})",
    'getattr({b}, "__class__")',
    "vars({b})",
    'type({b})("X", (), {{}})',
    "eval(\"__import__('canary')\")",
    '__import__("canary")',
    'open("PWNED", "w")',
    'print("x", file=open("PWNED", "w"))',
    'sd.read_capabilities("secret.yaml")',
    'sd.Plan.load("secret.yaml")',
    'sd.standard_catalog().with_extension("secret.yaml")',
    'sd.Functions(sd.standard_catalog().with_extension("secret.yaml"))',
    'sd.ExtendedExpression.load("secret.yaml")',
    't.to_plan().save("PWNED")',
    "t.explain()",
    "t.collect()",
    '"x".encode("canary")',
    'b"x".decode("canary")',
    "sd.Nullable[\"__import__('canary')\"]",
    "list[\"__import__('canary')\"]",
    "sd.List[\"__import__('canary')\"]",
    '(lambda: 0).__globals__["__builtins__"]["open"]("PWNED", "w")',
    'Path("PWNED").touch()',
    'os.system("touch PWNED")',
    'subprocess.run(["touch", "PWNED"])',
    "canary.touch()",
    "touch({b})",
    "[touch() for _ in (1,)]",
    "Own().key",
    "A.touch",
    'f.sum._catalog.with_extension("secret.yaml")',
    "max([1], key=touch)",
    "sorted([1], key=open)",
    "dict.fromkeys(open)",
)
HUGE = (
    '"x" * 10**9',
    "9**9**9",
    "[0] * 10**10",
    "[[0] * 10000] * 10000",
    "list(range(10**12))",
    '"x".ljust(10**12)',
    '"1".zfill(10**12)',
    '"a".replace("", "b" * 10000).replace("", "b" * 10000)',
    "1 << 10**10",
    'int(Decimal("1E+99999999"))',
    "str(10**100000)",
    'f"{1:>1000000000}"',
    '"{:{}}".format(1, "1000000000")',
    "(lambda g: g(g))(lambda g: g(g))",
    "(lambda two: two(two)(two)(two)(two))(lambda g: lambda x: g(g(x)))(lambda x: x + 1)(0)",
    "sum([[1]] * 10000, [])",
    '("x" * 10000).join(["x" * 10000] * 10000)',
    "sorted([[1] * 100] * 10000)",
    'Decimal("1E+99999999") + 1',
    "{**{'a': 1}, 'b': [[0] * 9999] * 9999}",
    "(lambda a: (lambda b: (lambda c: (lambda d: d + d)(c + c))(b + b))(a + a))('x' * 9999)",
    "t.group_by(*[f.add(sd.col('key'), 1)] * 5000)",
)
POSITIONS = (
    *("t.select(x=sd.lit({e}))", "t.filter(lambda r: {e})", 'sd.read_named("t", {{"a": {e}}})', "t.filter({e})"),
    *("v{n} = {e}\nt.select(v{n})", "t.select({e})", "{e}", "t.rename(key={e})", "f.sum({e})", "sd.lit({e})"),
    *("t.select(*{e})", "t.select(**{e})", "t.fetch({e})", 'sd.col("key") == {e}', "sd.when({e})", "t[{e}]"),
    *('sd.col("key").cast({e})', "t.join(t, lambda a, b: {e})", "t.write({e})", "sd.read_files({e}, A)"),
    *("sd.read_virtual([({e}, 'x')], A)", "sd.read_iceberg({e}, A)", "t.select(x=lambda r, s={e}: s)"),
)


def expression(random: Random) -> str:
    """What tries to reach out, or is huge."""
    base = random.choice(BASES)
    match random.randrange(5):
        case 0:
            return random.choice(HUGE)
        case 1 | 2:
            return random.choice(ESCAPES).format(b=base)
        case _:
            return base + "".join(random.choices(STEPS, k=random.randint(1, 7)))


def programs(seed: str, count: int) -> str:
    """A module of so many attempts, each of which Python can compile."""
    random = Random(seed)
    found = [HEADER]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(found) <= count:
            text = random.choice(POSITIONS).format(e=expression(random), n=len(found))
            try:
                compile(text, "attempt", "exec", dont_inherit=True, optimize=0, flags=1024)  # a syntax tree alone
            except (SyntaxError, ValueError, MemoryError):
                continue
            found.append(f"{text}\n")
    return "".join(found)
