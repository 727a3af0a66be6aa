"""Pipelines with a mistake in the last step: a word of a right call replaced, or a schema class that does not fit."""

from __future__ import annotations

import io
import tokenize
from random import Random

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import SubstraitDslError
from tests.pipelines.expressions import CannotWriteError
from tests.pipelines.programs import Pipeline, Program, assign, try_step
from tests.pipelines.spelling import random_type
from tests.pipelines.steps import ALL, Steps

_SWAPPED = ("+", "-", "*", "/", "%", "==", "<", ">=", "&", "|")
_VALUES = ("7", "1.5", '"text"', "None", "True", "3000000000", 'Decimal("0.125")', "dt.date(2020, 1, 31)")


def add_spoiled(program: Program, number: int) -> None:
    """Write a pipeline of a few right steps and one that is perhaps wrong: whether it is, its run says."""
    steps = Steps(program.random, dict(program.names), number, program.used)
    while not steps.text or not steps.relation.columns:
        steps.text = ""
        try_step(steps, "start")
    for _ in range(program.random.randint(0, 2)):
        try_step(steps, program.random.choice([verb for verb in ALL if verb != "write"]))
    assign(steps)
    wrong = _wrong(steps)
    program.pipelines.append(Pipeline(number, tuple(steps.classes), (*steps.lines, wrong)))


def _wrong(steps: Steps) -> str:
    while True:
        verb = steps.random.choice([verb for verb in ALL if verb not in ("shared", "write")])
        classes, lines = list(steps.classes), list(steps.lines)
        try:
            if verb in ("as_", "set_op"):
                return _other_columns(steps, verb)
            text = steps.step(verb)
            steps.value(text)
            wrong = steps.text + spoiled(text.removeprefix(steps.text), steps)
            return wrong if _is_our_mistake(wrong, steps) else text
        except (CannotWriteError, SubstraitDslError):
            steps.classes, steps.lines = classes, lines


def _other_columns(steps: Steps, verb: str) -> str:
    """A declaration, or another input of a set operation, with one column that is perhaps of another type."""
    schema = steps.relation.schema
    kinds = list(schema.types)
    place = steps.random.randrange(len(kinds))
    flipped = kinds[place].with_nullability(not kinds[place].nullable)
    kinds[place] = steps.random.choice((flipped, random_type(steps.random)))
    if verb == "as_":
        return f"{steps.text}.as_({steps.declare(schema.names, kinds)})"
    if steps.random.random() < 0.2:
        kinds.append(t.I64())
    return f'{steps.text}.union_all(sd.read_named("other", {steps.columns_of(kinds)}))'


def _is_our_mistake(text: str, steps: Steps) -> bool:
    """Whether a text is right, or wrong because the library says so: Python's own mistakes are not its matter."""
    try:
        steps.value(text)
    except (SubstraitDslError, AttributeError):
        return True
    except Exception:
        return False
    return True


def spoiled(text: str, steps: Steps) -> str:
    """A text of Python with one word replaced by another."""
    random, names = steps.random, steps.relation.columns
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    places = [number for number, token in enumerate(tokens) if _replacements(token, random, names)]
    if not places:
        raise CannotWriteError
    place = random.choice(places)
    token = tokens[place]
    new = random.choice(_replacements(token, random, names))
    changed = text[: token.start[1]] + new + text[token.end[1] :]
    try:
        compile(f"x{changed}", "<program>", "eval")
    except SyntaxError:  # a sign before a number, and no operator
        raise CannotWriteError from None
    return changed


def _replacements(token: tokenize.TokenInfo, random: Random, names: tuple[str, ...]) -> list[str]:
    match token.type:
        case tokenize.NAME if token.string in names:
            return [token.string + "x", *names]
        case tokenize.STRING if token.string.strip('"') in names:
            return [f'"{token.string.strip(chr(34))}x"', *(f'"{name}"' for name in names)]
        case tokenize.STRING | tokenize.NUMBER:
            return [value for value in _VALUES if value != token.string]
        case tokenize.OP if token.string in _SWAPPED:
            return [operator for operator in _SWAPPED if operator != token.string]
    return []
