"""What engines run for the functions of users' own extensions: bound by name when a plan is executed, never in it."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self
from zlib import crc32

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AggregateFunction, FunctionId, ScalarFunction
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.stability import is_stable
from substrait_dsl.catalog.catalog import standard_catalog
from substrait_dsl.catalog.everyday import URN as EVERYDAY_URN
from substrait_dsl.errors import UnsupportedError, quote

Engine = Literal["spark", "datafusion"]
"""The engines that functions can be implemented for; Spark's are all that take its SQL."""
Takes = Literal["sql", "columns", "values", "arrays", "series"]
"""SQL text, or what a Python function takes: Columns, values of a row, Arrow arrays, pandas Series.

One for an aggregate function takes the rows of a group: values are lists there.
"""

TAKES: Mapping[Engine, tuple[Takes, ...]] = {
    "spark": ("columns", "values", "arrays", "series"),
    "datafusion": ("arrays", "values", "series"),
}
"""What a Python function may take on each engine; the first by default."""

URN = "extension:substrait_dsl:implementations"
"""The URN under which implementations are called in the plans that an engine gets from an execution."""

PREFIX = "__substrait_dsl_"
"""The prefix of the names of implementations in engines; a number follows."""

DISTINCT, FILTER = "distinct", "filter"
"""What stands in braces in SQL text for an aggregate function, where DISTINCT goes, and a filter or a window."""

OF_IMPLEMENTATION = "the implementation of "
"""How errors call an implementation; the name of the function follows."""

OF_PYTHON = (
    t.Boolean, t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.String, t.Binary, t.Date, t.Decimal, t.PrecisionTimestamp,
)  # fmt: skip
"""The types of arguments and results of a Python function, which all engines transfer unchanged."""


@attrs.frozen(eq=False)
class Implementation:
    """What an engine runs for a function, as long as it is bound. Made by `substrait_dsl.implement`.

    As a context manager it is bound until the end of ``with``.
    """

    urn: str
    """The extension of the function."""
    name: str
    """The name of the function, or its signature for one overload alone."""
    engine: Engine
    """The engine that runs it."""
    takes: Takes
    """What it is made of."""
    body: str | Callable[..., Any]
    """SQL text, or a Python function."""
    arguments: tuple[str, ...] = ()
    """The names of the arguments, where SQL text may have them."""
    is_deterministic: bool = True
    """Whether the extension says that equal arguments have equal results."""
    is_ordered: bool = False
    """Whether the extension says that the result of an aggregate function depends on the order of rows."""
    number: int = attrs.field(factory=count().__next__, init=False)
    """A number of its own in this process."""

    def remove(self) -> None:
        """Unbind it. What was bound to the function before is bound again; twice does nothing.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> shout = '''
            ... urn: extension:com.acme:texts
            ... scalar_functions:
            ...   - name: shout
            ...     impls: [{args: [{name: x, value: string}], return: string}]
            ... '''
            >>> my = sd.Functions(sd.standard_catalog().with_extension(shout))
            >>> loud = sd.implement(my.shout, "spark", "upper({x})")
            >>> loud.remove()
            >>> bool(customers.select(loud=lambda c: my.shout(c.name)).check("spark"))
            False
        """
        with _LOCK:
            _bound[self._key] = self._others()

    def _others(self) -> tuple[Implementation, ...]:
        """Return what else was bound to the function, in order."""
        return tuple(each for each in _bound.get(self._key, ()) if each is not self)

    @property
    def _key(self) -> tuple[str, str, str]:
        return self.engine, self.urn, self.name

    @property
    def title(self) -> str:
        """The words for it in errors."""
        return f"{OF_IMPLEMENTATION}{self.name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<implementation of {self.name} of {self.urn} on {self.engine}>"


_LOCK = Lock()
_bound: dict[tuple[str, str, str], tuple[Implementation, ...]] = {}
"""The implementations of this process, the one that is bound last."""


def bind(implementation: Implementation) -> None:
    """Bind an implementation: from now on the engine runs it for the function."""
    with _LOCK:
        _bound[implementation._key] = (*implementation._others(), implementation)


def implementation_of(engine: str, function: FunctionId) -> Implementation | None:
    """Return what is bound to a function: to its signature, else to its name."""
    for name in (function.key, function.name):
        if bound := _bound.get((engine, function.urn, name)):
            return bound[-1]
    if engine == "datafusion" and function.urn == EVERYDAY_URN:
        return _everyday().get(function.name)
    return None


@cache
def _everyday() -> Mapping[str, Implementation]:
    """Return what is bound from the start: the scalar functions of the library's own extension, on DataFusion."""
    from substrait_dsl.catalog.everyday_values import VALUES

    return {name: Implementation(EVERYDAY_URN, name, "datafusion", "values", body) for name, body in VALUES.items()}


def is_stable_call(node: Node, engine: str) -> bool:
    """Return whether a node has the same value each time, as far as it is a call of what is bound on an engine.

    A lowered node calls the implementation itself.
    """
    if not isinstance(node, ScalarFunction | AggregateFunction):
        return True
    found = implementation_of(engine, node.function) or bound_by(node.function)
    if found is None:
        return True
    depends_on_order = found.is_ordered and isinstance(node, AggregateFunction) and not node.sorts
    return found.is_deterministic and not depends_on_order


def refusal_of_repetition(engine: object, call: ScalarFunction) -> UnsupportedError:
    """Return the error for a call with other values each time, where an engine may be asked for it several times."""
    name = call.function.name
    return UnsupportedError(
        f"{engine} may compute {name} several times here, which is declared deterministic: false",
        remedy="call-of-other-values",
        details={"function": name},
    )


def is_stable_on(engine: str, rel: Rel) -> bool:
    """Return whether the rows are the same each time (`stability.is_stable`), with what is bound on an engine."""
    return is_stable(rel) and all(is_stable_call(node, engine) for node in walk(rel))


def bound_function(found: Implementation, function: FunctionId, types: str) -> FunctionId:
    """Return the function by which a plan for an engine calls what is bound to one."""
    name = f"{PREFIX}{found.number}_{crc32(types.encode()):08x}"
    return FunctionId(URN, f"{name}:{function.key.partition(':')[2]}")


def bound_by(function: FunctionId) -> Implementation | None:
    """Return the implementation that a function of a lowered plan stands for; None for other functions."""
    if function.urn != URN:
        return None
    number = int(function.name.removeprefix(PREFIX).partition("_")[0])
    known = (*_everyday().values(), *(each for bound in list(_bound.values()) for each in bound))
    return next(each for each in known if each.number == number)


def bound_calls(tops: Iterable[Rel]) -> Iterator[ScalarFunction]:
    """Yield the calls in lowered relations of what is bound, one for each function."""
    calls = (node for top in tops for node in walk(top) if isinstance(node, ScalarFunction))
    yield from {node.function: node for node in calls if node.function.urn == URN}.values()


def bindable(function: FunctionId, engine: str) -> Mapping[str, str] | None:
    """Return the details of a remedy for a function that is not bound; None: it cannot be bound there."""
    if engine not in TAKES or not function.name.isidentifier():
        return None
    if function.urn == EVERYDAY_URN or function.urn in standard_catalog().extensions:
        return None
    return {"function": function.name, "engine": engine}


# --- SQL text


def placeholders(text: str) -> Iterator[str]:
    """Yield the names and positions between the braces of SQL text. Raises `ValueError` for unbalanced braces."""
    for _, field, form, conversion in string.Formatter().parse(text):
        if field is not None:
            if form or conversion or not re.fullmatch(r"\w+", field):
                raise ValueError(f"{{{field}}} is neither the name of an argument nor its position")
            yield field


def fill(text: str, arguments: Mapping[str, str]) -> str:
    """Return SQL text with arguments in place of their names and positions; doubled braces stand for one."""
    parts = []
    for literal, field, _, _ in string.Formatter().parse(text):
        parts += [literal, arguments[field] if field is not None else ""]
    return "".join(parts)


def fault_in(text: str, *, aggregates: bool) -> str | None:
    """Return what keeps SQL text from being one operand wherever it is written; None: nothing does.

    Args:
        text: the text, whose braces are balanced.
        aggregates: whether it is that of an aggregate function.
    """
    depth, before = 0, ""
    for token, field in _tokens(text):
        word = token.upper()
        if token in ("--", "/*"):
            return f"it has a comment, {token}, which may hide what is written after it"
        if token in _QUOTES:
            return f"the quote {token} is not closed"
        if not field and (inside := _PLACE.search(token)):
            return f"{{{inside[1]}}} stands in quotes, where no value goes"
        if word == "AS" and depth == 0:
            return "it names its result with AS, and is one expression"
        if aggregates and word == "OVER":
            return f"it has a window of its own, and an aggregate function one for each call: write {{{FILTER}}}"
        if field == FILTER and before == FILTER:
            return f"{{{FILTER}}} stands twice at one aggregate function"
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            return "a closing parenthesis has no opening one"
        before = before if token.isspace() else field or token
    if depth:
        return "a parenthesis is not closed"
    if not before:
        return "it is empty"
    return _fault_in_calls(text, aggregates=aggregates)


def _fault_in_calls(text: str, *, aggregates: bool) -> str | None:
    """Return what is wrong with the functions that SQL text calls: each or none is to aggregate; None: nothing is.

    A session may have functions of its own, of which nothing is known here.
    """
    from substrait_dsl.catalog.spark_functions import AGGREGATES, PER_ROW, QUANTIFIERS

    words = [token for token, _ in _tokens(text) if not token.isspace()]
    called = [
        word.lower() if before != "." else f".{word}"
        for before, word, after in zip(["", *words], words, words[1:], strict=False)
        if after == "(" and (word.isidentifier() or word[0] == "`")
    ]
    if aggregates and all(name in PER_ROW for name in called):
        why = f": {called[0]} has a value for each row" if called else ""
        return f"it calls no aggregate function of the engine's, which the rows of a group need{why}"
    if not aggregates and not {"SELECT", "OVER"} & {word.upper() for word in words}:
        found = next((name for name in called if name in AGGREGATES - QUANTIFIERS), None)
        return None if found is None else f"{found} is an aggregate function, and this one is called for each row"
    return None


def with_windows(text: str, mark: str, arguments: Mapping[str, str]) -> str:
    """Return SQL text with a window at each call that a clause stands at, which then aggregates no rows.

    Args:
        text: the text.
        mark: the clause, `DISTINCT` or `FILTER`.
        arguments: what stands for the arguments.
    """
    written: list[str] = []
    is_marked = [False]
    for token, field in _tokens(text):
        if field in (DISTINCT, FILTER):
            is_marked[-1] |= field == mark == DISTINCT
            written.append(" OVER ()" if field == mark == FILTER else "")
            continue
        written.append(arguments[field] if field else token)
        if token == "(":
            is_marked.append(False)
        elif token == ")" and len(is_marked) > 1 and is_marked.pop():
            written.append(" OVER ()")
    return "".join(written)


_QUOTES = ("'", '"', "`")
_PLACE = re.compile("\ue000(\\w+)\ue001")
"""The place of an argument or a clause in SQL text whose doubled braces are single ones."""
_TOKEN = re.compile(
    rf"""
    (?<!\w)[rR](?:'[^']*'|"[^"]*")                            # a raw string, without escapes
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*`           # a string, a name
    | {_PLACE.pattern} | -- | /\* | \w+ | \s+ | .
    """,
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens of SQL text, each with the name between its braces, which is empty if it has none."""
    parts = string.Formatter().parse(text)
    joined = "".join(literal + (f"\ue000{field}\ue001" if field is not None else "") for literal, field, _, _ in parts)
    for found in _TOKEN.finditer(joined):
        yield found[0], found[1] or ""


# --- Python functions


def require_types(implementation: Implementation, types: Sequence[t.Type]) -> None:
    """Raise `UnsupportedError` for types that values of Python are not transferred by unchanged."""
    for type_ in types:
        is_fine = not isinstance(type_, t.PrecisionTimestamp) or type_.precision == 6
        if not isinstance(type_, OF_PYTHON) or not is_fine or type_.variation is not None:
            names = [class_.keyword for class_ in OF_PYTHON]
            raise UnsupportedError(
                f"{implementation.title} is a Python function, which takes and returns {quote(names)}, timestamps in"
                f" microseconds, and not {type_}",
                remedy="types-of-python",
            )
