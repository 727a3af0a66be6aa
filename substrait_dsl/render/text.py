"""A plan as indented text for a terminal.

Each relation has a line, with its inputs below it, indented; what does not fit on the line follows below it after a
``|``. A subquery stands below the relation that has it, before the inputs. A relation that is reached twice is printed
once and then referred to by its label; so is one that would be too deep, which is printed at the left margin instead.
One that the plan itself has only once is marked ``shared``.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

import attrs

from substrait_dsl.algebra.evaluation import evaluated_trees
from substrait_dsl.algebra.expressions import AggregateFunction, Literal, Measure
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.relations import VirtualTable
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.render.describe import Clause, Description, describe, properties_clause
from substrait_dsl.render.description_parts import columns_clause, computed_column
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.scopes import NO_ROW, Labels, Row, Scope

WIDTH = 100
"""Lines are broken to stay within so many characters, where there is a place to break."""

MAX_DEPTH = 20
"""Relations deeper than this are printed at the left margin: a line is mostly text, not indentation."""

MAX_ITEMS = 40
"""A list longer than this is cut, and says how much is missing."""

_INDENT = "  "
_DETAIL = "    | "
_WORD = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\S)+""")
"""A word, inside which no line is broken: blanks in quotes are part of it."""


def explain(rel: Rel, *, properties: bool = False) -> str:
    """Return a plan as text: the relation, and everything below it.

    Args:
        rel: the relation at the top.
        properties: show for each relation what is known of the order and the distribution of its rows.

    Each relation is shown with its arguments and, after ``->``, the columns it puts out, unless those are the columns
    of its input: name, type (``?``: nullable) and what the column is computed from. ``*`` are all columns of the input.
    A column of an enclosing relation, seen from a subquery, is called ``outer.name``. The text grows with the number of
    relations, however deep they stand and however often they are shared; what is long or wide is cut, and says so.
    """
    return "\n".join(_Explanation([_Task(rel, 0, None)], properties, Labels()).lines())


def explain_plan(plan: AlgebraPlan, roots: Sequence[Rel]) -> str:
    """Return a plan as text: each tree in turn, then its parameter bindings, and how variables are evaluated.

    Args:
        plan: the plan.
        roots: its roots, under the names that it gives their columns.

    What several trees share is printed once: where the plan changes tables, as a subtree in its turn, else where it is
    used first. That variables have one value for the whole plan is not said.
    """
    writer = ExpressionWriter(Labels())
    in_turn = any(rel.flags.has_changes for rel in plan.relations)
    remaining = iter(roots)
    tasks = [
        _Task(next(remaining), 0, None)
        if isinstance(tree, Root)
        else _Task(tree.input, 0, None, f"subtree {writer.labels.of(tree.input)}: ")
        for tree in (evaluated_trees(plan.trees) if in_turn else plan.trees)
    ]
    lines = list(_Explanation(tasks, False, writer.labels, in_turn=in_turn).lines())
    lines += [
        f"parameter({binding.anchor}) = {writer.text(binding.value, NO_ROW)}" for binding in plan.parameter_bindings
    ]
    if plan.evaluation_mode != "per_plan":
        lines.append(f"variables are evaluated {plan.evaluation_mode}")
    return "\n".join(lines)


def explain_extended(extended: ExtendedExpression) -> str:
    """Return an extended expression as text.

    The row it is about, a line for each column, and the subqueries in them.
    """
    writer = ExpressionWriter(Labels(), None, extended.anchor)
    row = Row((extended.base_schema,))
    lines = [f"extended expression over {_shorten(columns_clause(extended.base_schema))}"]
    for field, node in zip(extended.schema, extended.nodes, strict=True):
        match node:
            case AggregateFunction():
                lines.append(f"{_INDENT}{computed_column(field, writer.measure(Measure(node), row))}")
            case Expression():
                lines.append(f"{_INDENT}{computed_column(field, writer.text(node, row))}")
    tasks = {
        id(each.rel): _Task(each.rel, 1, each.scope, f"subquery {writer.labels.of(each.rel)}: ")
        for each in writer.subqueries
    }
    return "\n".join([*lines, *_Explanation(tasks.values(), False, writer.labels).lines()])


def show_schema(schema: NamedStruct) -> str:
    """Return a schema as text: position, name and type (``?``: nullable), a line for each column and named field."""
    rows: list[tuple[str, str, str]] = []
    for position, field in enumerate(schema):
        rows.append((str(position), name_text(field.name), str(field.type)))
        rows.extend(("", name, type_) for name, type_ in _nested_fields(field.type, _INDENT))
    if not rows:
        return "(no columns)"
    numbers, names, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join(f"{number:>{numbers}}  {name:<{names}}  {type_}" for number, name, type_ in rows)


def _nested_fields(type_: Type, indent: str) -> Iterator[tuple[str, str]]:
    match type_:
        case Struct(types=types, names=tuple(names)):
            for name, inner in zip(names, types, strict=True):
                yield indent + name_text(name), str(inner)
                yield from _nested_fields(inner, indent + _INDENT)
        case List(element=element):
            yield from _nested_fields(element, indent)
        case Map(key=key, value=value):
            yield from _nested_fields(key, indent)
            yield from _nested_fields(value, indent)
        case _:
            return


@attrs.frozen
class _Task:
    """A relation that is still to be printed: where, in which scope, and what stands before it on the line."""

    rel: Rel
    depth: int
    outer: Scope | None
    heading: str = ""


class _Explanation:
    """One run of `explain`."""

    def __init__(self, tasks: Iterable[_Task], properties: bool, labels: Labels, *, in_turn: bool = False) -> None:
        """`in_turn` says that what is not shared is evaluated anew in each task."""
        self._sections = deque(tasks)
        self._in_turn = in_turn
        self._shared = {id(task.rel) for task in self._sections if task.rel.shared}
        self._properties = properties
        self._labels = labels
        self._tops = {id(task.rel) for task in self._sections}
        self._uses = _count_uses([task.rel for task in self._sections])
        self._printed: dict[int, str] = {}  # with the title of each
        self._printed_later: set[int] = set()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        while self._sections:
            stack = [self._sections.popleft()]
            if self._in_turn:
                self._uses = _count_uses([task.rel for task in stack])
                self._printed = {key: title for key, title in self._printed.items() if key in self._shared}
            while stack:
                task = stack.pop()
                mention = self._mention(task)
                if mention is not None:
                    yield _INDENT * task.depth + task.heading + mention
                    continue
                description = describe(task.rel, self._labels, task.outer)
                yield from self._layout(task, description)
                stack.extend(reversed(list(self._next_tasks(task, description))))

    def _mention(self, task: _Task) -> str | None:
        """Return the line for a relation that is printed elsewhere: above, or at the margin."""
        rel, key = task.rel, id(task.rel)
        if key in self._printed:
            return f"see {self._labels.of(rel)} above ({self._printed[key]})"
        if task.depth > MAX_DEPTH and key not in self._printed_later:
            self._printed_later.add(key)
            if key not in self._tops:  # which is still to come
                self._sections.append(_Task(rel, 0, task.outer, f"{self._labels.of(rel)}: "))
        return f"see {self._labels.of(rel)} below" if key in self._printed_later and task.depth > 0 else None

    def _next_tasks(self, task: _Task, description: Description) -> Iterator[_Task]:
        for subquery in {id(subquery.rel): subquery for subquery in description.subqueries}.values():
            if id(subquery.rel) not in self._printed:
                heading = f"subquery {self._labels.of(subquery.rel)}: "
                yield _Task(subquery.rel, task.depth + 1, subquery.scope, heading)
        for rel, scope in zip(description.inputs, description.scopes, strict=True):
            yield _Task(rel, task.depth + 1, scope)

    def _layout(self, task: _Task, description: Description) -> Iterator[str]:
        """Yield the lines of one relation: a single one, if everything fits on it."""
        self._printed[id(task.rel)] = description.title
        heading = task.heading
        if not heading and (task.rel.shared or self._uses[id(task.rel)] > 1):
            heading = f"{self._labels.of(task.rel)}: "
        if task.rel.shared:
            heading = f"shared {heading}"
        clauses = [_shorten(clause) for clause in _clauses(task.rel, description, self._properties)]
        indent = _INDENT * task.depth
        line = f"{indent}{heading}{description.name}"
        while clauses and len(line) + 1 + len(str(clauses[0])) <= WIDTH:
            line += f" {clauses.pop(0)}"
        yield line
        for clause in clauses:
            for detail in _broken(clause, WIDTH - len(indent) - len(_DETAIL)):
                yield indent + _DETAIL + detail


def _count_uses(tops: Sequence[Rel]) -> Counter[int]:
    """In how many places each relation stands, by its id."""
    uses = Counter(map(id, tops))
    stack: list[Node] = [*tops]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node, Literal | VirtualTable):  # of many parts, and no relation inside
            continue
        seen.add(id(node))
        children = node.children()
        uses.update([id(child) for child in children if isinstance(child, Rel)])
        stack += children
    return uses


def _clauses(rel: Rel, description: Description, properties: bool) -> Iterator[Clause]:
    yield from description.arguments
    if description.columns is not None:
        yield Clause("->", tuple(map(str, description.columns)) or ("no columns",))
    if properties:
        yield properties_clause(rel)


def _shorten(clause: Clause) -> Clause:
    missing = len(clause.items) - MAX_ITEMS
    if missing <= 0:
        return clause
    return attrs.evolve(clause, items=(*clause.items[:MAX_ITEMS], f"... ({missing} more)"))


def _broken(clause: Clause, width: int) -> Iterator[str]:
    """Yield a clause on several lines: each condition on one of its own, of anything else as many items as fit."""
    stacked = clause.joiner.strip().isalpha()
    line = ""
    for number, chunk in enumerate(_chunks(clause, stacked)):
        if line and not stacked and len(line) + 1 + len(chunk) <= width:
            line += f" {chunk}"
            continue
        if line:
            yield line
        *full, line = _wrap_text(_INDENT + chunk if number else chunk, width)
        yield from full
    yield line


def _chunks(clause: Clause, stacked: bool) -> Iterator[str]:
    """Yield the items of a clause with what introduces or joins them."""
    joiner = clause.joiner.strip()
    last = len(clause.items) - 1
    for number, item in enumerate(clause.items):
        before = clause.label if number == 0 else joiner if stacked else ""
        after = joiner if number < last and not stacked else ""
        yield f"{before} {item}{after}".lstrip()


def _wrap_text(text: str, width: int) -> Iterator[str]:
    """Yield a text broken between words; all lines but the first are indented further."""
    indent = text[: len(text) - len(text.lstrip())]
    line = ""
    for word in _WORD.findall(text):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
            indent += "" if indent.endswith(_INDENT * 2) else _INDENT * 2
        line = f"{line} {word}" if line else indent + word
    yield line
