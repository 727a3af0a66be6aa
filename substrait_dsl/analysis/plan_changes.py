"""Which steps two plans have in common, and which only one of them has.

A step is a relation without its inputs. Two steps are the same if they say the same of columns by their positions: the
names of columns between the steps do not count, and neither do types that are derived. So a column of another type is
a change of the step that reads it, and of no step above. Equal steps on equal inputs are one step, however often a plan
has them: a plan that refers to a relation twice means what one with two copies of it means.
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
    is_copy: bool = False
    """Whether the step is one that came before, at another place of its plan."""


def pair_steps(before: Rel | None, after: Rel | None) -> Iterator[StepPair]:
    """Yield all steps: those that are the same in both, and, inputs first, those that differ; None has no steps.

    Of what a plan has more than once, each copy after the first comes as `StepPair.is_copy`.
    """
    if before is not None and before == after:
        yield from _pair_equal(before, after)
        return
    forms = _Forms()
    old, new = _steps(before, forms), _steps(after, forms)
    matcher = SequenceMatcher(None, [step.form for step in old], [step.form for step in new], autojunk=False)
    found = False
    for tag, first, last, first_new, last_new in matcher.get_opcodes():
        olds, news = old[first:last], new[first_new:last_new]
        if tag == "equal":
            pairs = [_Pair(*pair) for pair in zip(olds, news, strict=True)]
        else:
            found = True
            pairs = [*_pair(olds, news)]
        for pair in pairs:
            yield from pair.with_copies(is_same=tag == "equal")
    if not found:  # the same steps, but on other inputs
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


class _Step(NamedTuple):
    """A step, and all relations that are it: the first, and copies of it."""

    form: int
    places: list[Rel]


class _Pair(NamedTuple):
    """A step of each of two plans; None where there is nothing."""

    before: _Step | None
    after: _Step | None

    def with_copies(self, *, is_same: bool) -> Iterator[StepPair]:
        """Yield the pair, and each copy with what stands in its place."""
        before, after = ([None] if step is None else step.places for step in self)
        for number in range(max(len(before), len(after))):
            old, new = (places[number if number < len(places) else 0] for places in (before, after))
            yield StepPair(old, new, is_same, is_copy=number > 0)


def _pair(before: Sequence[_Step], after: Sequence[_Step]) -> Iterator[_Pair]:
    """Yield the steps that stand in one place: those of one class, in turn, are one step that was changed."""
    remaining = list(after)
    for step in before:
        class_ = type(step.places[0])
        same = next((place for place, each in enumerate(remaining) if type(each.places[0]) is class_), None)
        if same is None:
            yield _Pair(step, None)
            continue
        for added in remaining[:same]:
            yield _Pair(None, added)
        yield _Pair(step, remaining[same])
        del remaining[: same + 1]
    for added in remaining:
        yield _Pair(None, added)


def _steps(top: Rel | None, forms: _Forms) -> list[_Step]:
    """Return the steps in and below a relation, inputs first, each with all relations that are it."""
    numbers: dict[int, int] = {}
    subtrees: dict[int, int] = {}
    known: dict[tuple[int, ...], int] = {}
    steps: dict[int, _Step] = {}
    for node in () if top is None else walk_upwards(top):
        numbers[id(node)] = form = forms.number(node, numbers)
        below = (form, *(subtrees[id(child)] for child in node.children()))
        subtrees[id(node)] = subtree = known.setdefault(below, len(known))
        if isinstance(node, Rel):
            steps.setdefault(subtree, _Step(form, [])).places.append(node)
    return [*steps.values()]


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
