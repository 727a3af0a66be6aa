"""The arguments of verbs, at random, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from tests.pipelines.expressions import TESTS, CannotWriteError, Expressions, Test
from tests.pipelines.spelling import annotation, random_type, spelled


class Parts:
    """Writes arguments of the verbs of one pipeline, for the relation that it has come to."""

    def __init__(self, random: Random, names: dict[str, Any], number: int, used: Counter[str]) -> None:
        self.random, self.names, self.number, self.used = random, names, number, used
        self.text = ""
        """The relation as the program says it: a variable, or a chain of calls."""
        self.classes: list[str] = []
        """The schema classes that the pipeline needs."""
        self.lines: list[str] = []
        """The statements so far."""
        self._new = 0

    @property
    def relation(self) -> sd.Relation[Any]:
        """The relation that the pipeline has come to."""
        return self.value(self.text)

    def value(self, text: str) -> sd.Relation[Any]:
        """A relation that a text of the program stands for."""
        found: sd.Relation[Any] = eval(text, self.names)
        return found

    def expressions(self, *others: str, in_lambda: bool | None = None) -> Expressions:
        """What writes expressions over the rows of this relation and others."""
        if in_lambda is None:
            in_lambda = self.random.random() < 0.6
        parameters = ("r",) if not others else ("a", "b")
        inputs = [(p, text, self.value(text)) for p, text in zip(parameters, (self.text, *others), strict=True)]
        return Expressions(self.random, self.names, inputs, in_lambda, self.used)

    def argument(self, test: Test = TESTS["any"]) -> str:
        """An expression over this relation's row, as a verb takes it."""
        expressions = self.expressions()
        text = expressions.argument(test)
        return text if expressions.in_lambda else self.held(text)

    def held(self, text: str) -> str:
        """A value, or now and then a variable that holds it."""
        if self.random.random() < 0.8:
            return text
        name = f"held{len(self.lines)}"
        exec(f"{name} = {text}", self.names)
        self.lines.append(f"{name} = {text}")
        return name

    def condition(self, *others: str) -> str:
        """A condition."""
        return self.expressions(*others).argument(TESTS["boolean"])

    def name(self) -> str:
        """A name that no column has."""
        self._new += 1
        return f"n{self._new}"

    def column(self) -> str:
        """The name of a column that is the only one of that name."""
        names = self.relation.columns
        found = [name for name in names if names.count(name) == 1]
        if not found:
            raise CannotWriteError
        return self.random.choice(found)

    def some(self, make: Callable[[], str], most: int = 3) -> str:
        """One or several arguments."""
        return ", ".join(make() for _ in range(self.random.randint(1, most)))

    def named(self, make: Callable[[], str], most: int = 3) -> str:
        """One or several arguments by new names."""
        return self.some(lambda: f"{self.name()}={make()}", most)

    def key(self) -> str:
        """What `sort` takes."""
        choices = (
            lambda: f'"{self.column()}"',
            lambda: str(self.random.randrange(len(self.relation.columns))),
            self.argument,
            lambda: f'sd.desc("{self.column()}", nulls="first")',
            lambda: f"sd.asc({self.argument()})",
            lambda: f'lambda r: r["{self.column()}"].{self.random.choice(("asc", "desc"))}(nulls="first")',
            lambda: f'sd.clustered("{self.column()}")',
            lambda: f'sd.compared("{self.column()}", f.subtract)',
        )
        return self.random.choice(choices)()

    def chosen(self) -> str:
        """What `select` and `group_by` take by position."""
        wide = len(self.relation.columns)
        choices = (
            lambda: f'"{self.column()}"',
            lambda: f'"{self.column()}"',
            lambda: str(self.random.randrange(-wide, wide)),
            lambda: self.aliased(self.argument()),
            self._bare,
        )
        return self.random.choice(choices)()

    def _bare(self) -> str:
        expressions = self.expressions()
        return expressions.wrapped(expressions.column().text)

    def aliased(self, text: str) -> str:
        """An expression, or a lambda that gives one, under a new name."""
        return f'{text}.alias("{self.name()}")' if text.startswith("lambda") else f'({text}).alias("{self.name()}")'

    def measure(self) -> str:
        """A measure."""
        expressions = self.expressions()
        for _ in range(3):
            expressions.grow()
        text = expressions.call("aggregate")
        if self.random.random() < 0.3:
            text += ".distinct()"
        if self.random.random() < 0.3:
            text += f".filter({expressions.some(TESTS['boolean']).text})"
        if self.random.random() < 0.2:
            text += f'.order_by(sd.desc("{self.column()}"))'
        return expressions.wrapped(text)

    def window_function(self) -> str:
        """A function of the verb `window`."""
        expressions = self.expressions()
        text = expressions.call(self.random.choice(("aggregate", "window")))
        return expressions.wrapped(text + self.random.choice(("", "", ".frame(rows=(-2, 0))")))

    def other(self) -> str:
        """Another relation: a variable, perhaps with a verb."""
        found = [name for name, value in self.names.items() if isinstance(value, sd.Relation) and value.columns]
        text = self.random.choice(found)
        return text + self.random.choice(("", "", "", ".limit(3)", ".select(0)", ".emit([0, 0])"))

    def like(self) -> str:
        """A relation with columns of the same types, of other nullability perhaps."""
        if self.random.random() < 0.5:
            return f"{self.text}.limit(2)" if self.random.random() < 0.5 else self.text
        kinds = [type_.as_nullable() if self.random.random() < 0.3 else type_ for type_ in self.relation.schema.types]
        return f'sd.read_named("other", {self.columns_of(kinds)})'

    def schema(self) -> str:
        """A schema: a class, or a dict."""
        classes = [name for name, value in self.names.items() if _declares(value)]
        if self.random.random() < 0.5:
            return self.random.choice(classes)
        return self.held(self.columns_of([random_type(self.random) for _ in range(self.random.randint(1, 6))]))

    def columns_of(self, kinds: Sequence[t.Type]) -> str:
        """A dict that declares columns of these types, by new names."""
        return "{" + ", ".join(f'"{self.name()}": {spelled(type_, self.random)}' for type_ in kinds) + "}"

    def declare(self, names: Sequence[str], kinds: Sequence[t.Type]) -> str:
        """A new schema class with these columns."""
        lines = []
        for name, type_ in zip(names, kinds, strict=True):
            written = annotation(type_)
            if written is None or not name.isidentifier() or names.count(name) > 1:
                raise CannotWriteError
            lines.append(f"    {name}: {written}")
        name = f"Out{self.number}_{len(self.classes)}"
        text = "\n".join([f"class {name}(sd.Schema):", *lines])
        exec(text, self.names)
        self.classes.append(text)
        return name


def _declares(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, sd.Schema) and value is not sd.DynRow
