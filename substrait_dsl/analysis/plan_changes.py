"""Which steps two plans have in common, and which only one of them has.

A step is a relation without its inputs. Two steps are the same if they say the same of columns by their positions: the
names of columns between the steps do not count, and neither do types that are derived. So a column of another type is
a change of the step that reads it, and of no step above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from substrait_dsl.algebra.frozen_values import FIELD_READERS
from substrait_dsl.algebra.node import Node, Rel, walk_upwards

DERIVED = frozenset({"column_type", "output_type"})
"""The fields of expressions and calls whose values are derived from other parts of the plan."""


class StepPair(NamedTuple):
    """A step of one plan and what stands in its place in another; None where there is nothing."""

    before: Rel | None
    after: Rel | None
    is_same: bool = False


def pair_steps(before: Rel, after: Rel) -> Iterator[StepPair]:
    """Yield all steps: those that are the same in both, and, inputs first, those that differ.

    Of equal relations, what one of them uses twice is the same as each of the two that the other has.
    """
    if before == after:
        yield from _pair_equal(before, after)
        return
    forms = _Forms()
    old, new = _steps(before, forms), _steps(after, forms)
    matcher = SequenceMatcher(None, [form for form, _ in old], [form for form, _ in new], autojunk=False)
    found = False
    for tag, first, last, first_new, last_new in matcher.get_opcodes():
        olds, news = ([rel for _, rel in steps] for steps in (old[first:last], new[first_new:last_new]))
        if tag == "equal":
            yield from (StepPair(*pair, is_same=True) for pair in zip(olds, news, strict=True))
        else:
            found = True
            yield from _pair(olds, news)
    if not found:  # the same steps, but what one of them uses twice another has two of
        yield StepPair(before, after)


def _pair_equal(before: Rel, after: Rel) -> Iterator[StepPair]:
    """Yield the steps of equal relations."""
    stack: list[tuple[Node, Node]] = [(before, after)]
    seen: set[tuple[int, int]] = set()
    while stack:
        old, new = stack.pop()
        if (id(old), id(new)) in seen:
            continue
        seen.add((id(old), id(new)))
        if isinstance(old, Rel) and isinstance(new, Rel):
            yield StepPair(old, new, is_same=True)
        stack += reversed([*zip(old.children(), new.children(), strict=True)])


def _pair(before: Sequence[Rel], after: Sequence[Rel]) -> Iterator[StepPair]:
    """Yield the steps that stand in one place: those of one class, in turn, are one step that was changed."""
    remaining = list(after)
    for rel in before:
        same = next((place for place, each in enumerate(remaining) if type(each) is type(rel)), None)
        if same is None:
            yield StepPair(rel, None)
            continue
        for added in remaining[:same]:
            yield StepPair(None, added)
        yield StepPair(rel, remaining[same])
        del remaining[: same + 1]
    for added in remaining:
        yield StepPair(None, added)


def steps_below(top: Rel) -> list[Rel]:
    """Return the relations in and below one, each once and inputs first; those of subqueries, too."""
    return [node for node in walk_upwards(top) if isinstance(node, Rel)]


def _steps(top: Rel, forms: _Forms) -> list[tuple[int, Rel]]:
    """Return the relations in and below one, each once and inputs first, with the number of its form."""
    numbers: dict[int, int] = {}
    steps = []
    for node in walk_upwards(top):
        numbers[id(node)] = number = forms.number(node, numbers)
        if isinstance(node, Rel):
            steps.append((number, node))
    return steps


class _Forms:
    """The forms of nodes by number: two nodes of one form say the same, their relations aside."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}

    def number(self, node: Node, numbers: dict[int, int]) -> int:
        """Return the number of a node's form, given those of its children."""

        def part(value: object) -> object:
            if isinstance(value, Rel):
                return Rel
            if isinstance(value, Node) and id(value) in numbers:  # else it is part of a literal's value
                return Node, numbers[id(value)]
            if type(value) is tuple:
                return tuple(map(part, value))
            # 1 and True are two values; 0.0 and -0.0 too, and NaN is one, as constants are compared
            return type(value), value.hex() if type(value) is float else value

        names, read = FIELD_READERS[type(node)]
        fields = tuple(part(value) for name, value in zip(names, read(node), strict=True) if name not in DERIVED)
        return self._numbers.setdefault((type(node), fields), len(self._numbers))
