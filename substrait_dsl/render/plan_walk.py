"""The order in which the steps of a plan are shown, for all writers of plans.

A step comes before what it is made of, a subquery before the inputs. A relation that is reached twice is shown once and
then referred to by its label; so is one that would be too deep, which begins a section of its own. One that the plan
itself has only once is called ``shared``.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

import attrs

from substrait_dsl.algebra.evaluation import evaluated_trees
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.trees import relations_below
from substrait_dsl.render.describe import Description, describe
from substrait_dsl.render.scopes import Labels, Scope

MAX_DEPTH = 20
"""Relations deeper than this begin a section: a line is mostly text, not indentation."""


@attrs.frozen
class Task:
    """A relation that is still to be shown: where, in which scope, and what stands before it."""

    rel: Rel
    depth: int
    outer: Scope | None
    heading: str = ""


@attrs.frozen
class ShownStep:
    """A relation that is shown here, what stands before it (``#1: ``, ``subquery #2: ``), and its description."""

    rel: Rel
    depth: int
    heading: str
    description: Description


@attrs.frozen
class Mention:
    """A relation that is shown elsewhere: above, or in a section below."""

    rel: Rel
    depth: int
    text: str


class PlanWalk:
    """One walk over the steps of trees, in the order in which they are shown."""

    def __init__(
        self, tasks: Iterable[Task], labels: Labels, *, in_turn: bool = False, max_depth: int = MAX_DEPTH
    ) -> None:
        """Prepare the walk.

        Args:
            tasks: the relations at the top.
            labels: the labels that relations have so far.
            in_turn: whether what is not shared is evaluated anew in each task.
            max_depth: how deep a relation may stand.
        """
        self._sections = deque(tasks)
        self._in_turn = in_turn
        self._max_depth = max_depth
        self._shared = {id(task.rel) for task in self._sections if task.rel.shared}
        self._labels = labels
        self._tops = {id(task.rel) for task in self._sections}
        self._uses = _count_uses([task.rel for task in self._sections])
        self._printed: dict[int, str] = {}  # with the title of each
        self._printed_later: set[int] = set()

    def __iter__(self) -> Iterator[ShownStep | Mention]:
        """Yield the steps, and mentions of those that are shown elsewhere."""
        while self._sections:
            stack = [self._sections.popleft()]
            if self._in_turn:
                self._uses = _count_uses([task.rel for task in stack])
                self._printed = {key: title for key, title in self._printed.items() if key in self._shared}
            while stack:
                task = stack.pop()
                mention = self._mention(task)
                if mention is not None:
                    yield Mention(task.rel, task.depth, task.heading + mention)
                    continue
                description = describe(task.rel, self._labels, task.outer)
                self._printed[id(task.rel)] = description.title
                yield ShownStep(task.rel, task.depth, self._heading(task), description)
                stack.extend(reversed(list(self._next_tasks(task, description))))

    def _mention(self, task: Task) -> str | None:
        """Return the text for a relation that is shown elsewhere: above, or in a section."""
        rel, key = task.rel, id(task.rel)
        if key in self._printed:
            return f"see {self._labels.of(rel)} above ({self._printed[key]})"
        if task.depth > self._max_depth and key not in self._printed_later:
            self._printed_later.add(key)
            if key not in self._tops:  # which is still to come
                self._sections.append(Task(rel, 0, task.outer, f"{self._labels.of(rel)}: "))
        return f"see {self._labels.of(rel)} below" if key in self._printed_later and task.depth > 0 else None

    def _heading(self, task: Task) -> str:
        heading = task.heading
        if not heading and (task.rel.shared or self._uses[id(task.rel)] > 1):
            heading = f"{self._labels.of(task.rel)}: "
        return f"shared {heading}" if task.rel.shared else heading

    def _next_tasks(self, task: Task, description: Description) -> Iterator[Task]:
        for subquery in {id(subquery.rel): subquery for subquery in description.subqueries}.values():
            if id(subquery.rel) not in self._printed:
                heading = f"subquery {self._labels.of(subquery.rel)}: "
                yield Task(subquery.rel, task.depth + 1, subquery.scope, heading)
        for rel, scope in zip(description.inputs, description.scopes, strict=True):
            yield Task(rel, task.depth + 1, scope)


def walk_relation(rel: Rel, *, max_depth: int = MAX_DEPTH) -> PlanWalk:
    """Return the walk over a relation and everything below it."""
    return PlanWalk([Task(rel, 0, None)], Labels(), max_depth=max_depth)


def walk_plan(plan: AlgebraPlan, roots: Sequence[Rel], labels: Labels, *, max_depth: int = MAX_DEPTH) -> PlanWalk:
    """Return the walk over the trees of a plan.

    Args:
        plan: the plan.
        roots: its roots, under the names that it gives their columns.
        labels: the labels that relations have so far.
        max_depth: how deep a relation may stand.

    What several trees share comes once: where the plan changes tables, as a subtree in its turn, else where it is used
    first.
    """
    in_turn = any(rel.flags.has_changes for rel in plan.relations)
    remaining = iter(roots)
    tasks = [
        Task(next(remaining), 0, None)
        if isinstance(tree, Root)
        else Task(tree.input, 0, None, f"subtree {labels.of(tree.input)}: ")
        for tree in (evaluated_trees(plan.trees) if in_turn else plan.trees)
    ]
    return PlanWalk(tasks, labels, in_turn=in_turn, max_depth=max_depth)


def _count_uses(tops: Sequence[Rel]) -> Counter[int]:
    """In how many places each relation stands, by its id."""
    uses = Counter(map(id, tops))
    stack = [*tops]
    seen: set[int] = set()
    while stack:
        rel = stack.pop()
        if id(rel) not in seen:
            seen.add(id(rel))
            below = [*relations_below(rel)]
            uses.update(map(id, below))
            stack += below
    return uses
