"""Whole programs: modules of many small pipelines, each of which has been run as it was written."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import attrs

from substrait_dsl.errors import SubstraitDslError
from tests.pipelines.expressions import CannotWriteError, rare
from tests.pipelines.spelling import HEADER, annotation, random_type
from tests.pipelines.steps import ALL, Steps

TABLES = 4
"""How many tables a module declares, by schema classes."""


@attrs.frozen
class Pipeline:
    """A function of a program, and the schema classes that it needs."""

    number: int
    classes: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The pipeline in Python."""
        function = "\n".join([f"def pipeline_{self.number}() -> None:", *(f"    {line}" for line in self.lines)])
        return "\n\n\n".join([*self.classes, function])


class Program:
    """A module: tables, and pipelines over them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.head = HEADER + "".join(self._table(number) for number in range(TABLES))
        self.names: dict[str, Any] = {"__name__": "program"}
        exec(self.head, self.names)
        self.pipelines: list[Pipeline] = []
        self.used: Counter[str] = Counter()
        """How often each verb, form and function has been tried."""

    @property
    def text(self) -> str:
        """The module in Python."""
        return "\n\n\n".join([self.head.strip(), *(pipeline.text for pipeline in self.pipelines)]) + "\n"

    def _table(self, number: int) -> str:
        kinds = filter(None, (annotation(random_type(self.random)) for _ in range(self.random.randint(5, 10))))
        lines = [f"    c{number}_{position}: {kind}" for position, kind in enumerate(kinds)]
        return "\n".join(
            ["\n", f"class Table{number}(sd.Schema):", *lines, "\n",
             f'table{number} = sd.read_named("table{number}", Table{number})', ""]
        )  # fmt: skip

    def add(self, number: int) -> None:
        """Write a pipeline of 2 to 8 steps."""
        steps = Steps(self.random, dict(self.names), number, self.used)
        wanted = self.random.randint(2, 8)
        while not steps.text:
            try_step(steps, "start")
        for _ in range(wanted):
            if not steps.relation.columns:
                break
            if self.random.random() < 0.6:
                assign(steps)
            for _ in range(9):
                verb = rare(self.random, ALL, self.used)
                if try_step(steps, verb):
                    break
        steps.lines.append(f"sd.reveal_schema({steps.text})")
        self.pipelines.append(Pipeline(number, tuple(steps.classes), tuple(steps.lines)))


def assign(steps: Steps) -> None:
    """Give the relation a name, in a line that more often than not shows its columns."""
    variable = f"v{len(steps.lines)}"
    shown = f"sd.reveal_schema({steps.text})" if steps.random.random() < 0.7 else steps.text
    steps.names[variable] = steps.relation
    steps.text = variable
    steps.lines.append(f"{variable} = {shown}")


def try_step(steps: Steps, verb: str) -> bool:
    """Go one step further; whether that was right. A mistake of the generator's is an error of the library."""
    classes, lines = list(steps.classes), list(steps.lines)
    try:
        text = steps.start() if verb == "start" else steps.step(verb)
        steps.value(text)
    except (CannotWriteError, SubstraitDslError):
        steps.classes, steps.lines = classes, lines
        return False
    steps.text = text
    return True
