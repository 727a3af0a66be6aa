"""The outcomes of changes, reported with an error or an interrupt that ends the execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import attrs

from substrait_dsl.algebra.relations import Change, Ddl, FilesTarget, NamedObject, Update, VirtualTarget, Write
from substrait_dsl.errors import SubstraitDslError, class_words, quote

Outcome = Literal["not made", "made", "unknown"]

_OUTCOMES: ContextVar[Outcomes | None] = ContextVar("outcomes", default=None)


@attrs.define
class Outcomes:
    """The changes of a plan in order, and their outcomes."""

    titles: Sequence[str] = ()
    """The titles of the changes."""
    found: list[Outcome] = attrs.field(factory=list)
    """The outcomes of those that were begun."""

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Record the outcomes of changes in a block."""
        token = _OUTCOMES.set(self)
        try:
            yield
        finally:
            _OUTCOMES.reset(token)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Add the outcomes to an error or an interrupt that is raised in a block."""
        try:
            yield
        except BaseException as error:
            self.tell(error)
            raise

    def tell(self, error: BaseException) -> None:
        """Add to an error which changes were made before it, and to an interrupt whether any was.

        An error has it in its message, an interrupt as a note. The effects of a change that failed are in its own
        error.
        """
        match error:
            case KeyboardInterrupt():
                if self.titles:
                    error.add_note(self._describe_interrupt())
            case SubstraitDslError():
                if titles := self._titles_with("made"):
                    error.message = f"{error.message}; the plan has made {self._format_counts(titles)} before: {titles}"
                    error.args = (error.message,)
            case _:
                pass

    def _titles_with(self, outcome: Outcome) -> str:
        found = [*self.found, *["not made"] * (len(self.titles) - len(self.found))]
        return ", ".join(title for title, each in zip(self.titles, found, strict=True) if each == outcome)

    def _format_counts(self, titles: str) -> str:
        if len(self.titles) == 1:
            return "its change"
        return f"{self.found.count('made')} of its {len(self.titles)} changes"

    def _describe_interrupt(self) -> str:
        finished, unknown, rest = self._titles_with("made"), self._titles_with("unknown"), self._titles_with("not made")
        if not finished and not unknown:
            return f"nothing was changed; not made: {rest}"
        parts = (
            f"made before the interrupt: {finished}" if finished else "",
            f"broken off, so that it is not known whether it was made: {unknown}; read what is there"
            if unknown
            else "",
            f"not made: {rest}" if rest else "",
        )
        return "; ".join(filter(None, parts))


def expect_changes(changes: Sequence[Change]) -> None:
    """Note which changes a plan is to make, in their order."""
    if (current := _OUTCOMES.get()) is not None:
        current.titles = [title_of(change) for change in changes]


def begin_change() -> None:
    """Note that the next change of the plan begins."""
    if (current := _OUTCOMES.get()) is not None:
        current.found.append("not made")


def note_outcome(outcome: Outcome) -> None:
    """Note the outcome of the change that was begun last."""
    if (current := _OUTCOMES.get()) is not None and current.found:
        current.found[-1] = outcome


def title_of(change: Change) -> str:
    """Return the title of a change: ``insert into table "orders"``."""
    match change:
        case Write(target=NamedObject(names=names), op=op):
            word = "into" if op == "insert" else "from" if op == "delete" else "of"
            return f"{op} {word} table {quote(['.'.join(names)])}"
        case Write(target=FilesTarget(uri=uri)):
            return f"write to {quote([uri])}"
        case Write(target=VirtualTarget(name=name)):
            return f"write to the table in memory {quote([name])}"
        case Update(table=table):
            return f"update of table {quote(['.'.join(table.names)])}"
        case Ddl(target=NamedObject(names=names), op=op, object=noun):
            return f"{op} of {noun} {quote(['.'.join(names)])}"
        case _:  # of an object that Spark does not know, which is refused
            return class_words(change)
