"""Every error the library raises, in one tree.

Each class is also the builtin it is closest to, so ``except ValueError`` keeps working. An error says in one
sentence what was expected and what came (`message`), names the verb that refused (`verb`) and the column or measure
it was about (`place`), says what to do about it (`hint`), where in a plan it was found (`path`), and carries a stable
`code` for programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar


class SubstraitDslError(Exception):
    """Base of all errors of this library."""

    code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, hint: str | Callable[[], str | None] | None = None, path: str | None = None
    ) -> None:
        message = printable(message)
        super().__init__(message)
        self.message = message
        self._hint = hint
        self.path = path
        self.verb: str | None = None
        self.place: str | None = None

    @property
    def hint(self) -> str | None:
        """What to do about it. One that takes long to find is looked for only when somebody asks."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    @hint.setter
    def hint(self, hint: str | None) -> None:
        self._hint = hint

    def __reduce__(self) -> str | tuple[object, ...]:
        self._hint = self.hint  # what looks for it cannot be pickled
        return super().__reduce__()

    def __str__(self) -> str:
        head = ", ".join(part for part in (self.verb, self.place) if part)
        text = f"{printable(head)}: {self.message}" if head else str(self.message)
        if self.path:
            text += f" (at {printable(self.path)})"
        if self.hint:
            text += f"\n  hint: {printable(self.hint)}"
        return text


class SchemaError(SubstraitDslError, ValueError):
    """The shape of a relation or schema breaks a rule of the specification."""

    code = "schema"


class TypeMismatchError(SubstraitDslError, TypeError):
    """A value or expression has another type than the place it was put in."""

    code = "type-mismatch"


class LiteralError(TypeMismatchError, ValueError):
    """A Python value does not fit the Substrait type it should become."""

    code = "literal"


class UnknownFieldError(SubstraitDslError, LookupError):
    """A column, field or position that does not exist."""

    code = "unknown-field"


class AmbiguousFieldError(SubstraitDslError, LookupError):
    """A column name that several columns carry."""

    code = "ambiguous-field"


class FunctionNotFoundError(SubstraitDslError, TypeError, LookupError):
    """No function of that name, or none that takes these argument types."""

    code = "function-not-found"


class UnknownFunctionError(FunctionNotFoundError, AttributeError):
    """There is no function of that name."""

    code = "unknown-function"


class UnknownAttributeError(SubstraitDslError, AttributeError):
    """A method or verb that does not exist."""

    code = "unknown-attribute"


class InvalidChoiceError(SubstraitDslError, ValueError):
    """A word that is not one of the allowed ones."""

    code = "invalid-choice"


class InvalidArgumentError(SubstraitDslError, TypeError, ValueError):
    """A verb was called with an argument it cannot take."""

    code = "invalid-argument"


class SignatureError(InvalidArgumentError):
    """A call has an argument that nothing takes, or lacks one."""

    code = "signature"


class CatalogError(SubstraitDslError, ValueError):
    """An extension YAML file breaks the rules of extension files."""

    code = "catalog"


class PlanFormatError(SubstraitDslError, ValueError):
    """A serialised plan, or a type written as text, cannot be understood."""

    code = "plan-format"


class NotationError(SubstraitDslError, ValueError):
    """A text in the notation of PartiQL's algebra cannot be read; `line` and `column`, from 1, say where."""

    code = "notation"

    def __init__(self, message: str, *, line: int = 1, column: int = 1, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, path=f"line {line}, column {column}")
        self.line = line
        self.column = column


class EvaluationError(SubstraitDslError, RuntimeError):
    """A value expression of PartiQL's algebra has no value, where it must have one."""

    code = "evaluation"


class UnsupportedError(SubstraitDslError, NotImplementedError):
    """The engine, or the encoding, cannot express something exactly; it is refused before anything runs."""

    code = "unsupported"
    step: str | None = None
    """The step of the plan that is refused, as the text of the plan shows it, if it is one step."""
    expression: str | None = None
    """The part of the step that is refused."""
    refused: object = None
    """What was being lowered, for who names the step."""
    rule: str | None = None
    """The code of the rule of an engine's profile that refuses it, if it is one."""


class NotAllowedError(SubstraitDslError, PermissionError):
    """A plan would read, write or define what its caller does not allow; `accesses` are those that are not."""

    code = "not-allowed"

    def __init__(self, message: str, accesses: tuple[object, ...] = (), *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.accesses = accesses


class ExecutionError(SubstraitDslError, RuntimeError):
    """The engine failed, or is not there; the engine's own error is the `__cause__`."""

    code = "execution"
    step: str | None = None
    """The step of the plan that failed while it ran, as the text of the plan shows it, if it is known."""
    expression: str | None = None
    """The part of the step that failed."""
    table: tuple[str, ...] | None = None
    """The name of the table or view that is not there, if that is why."""


def printable(given: object) -> str:
    """A text for a message, on one line, with what is not seen escaped, as texts of plans have it.

    Names and values come from others: a line break in one must not begin a line of a log, nor a control character, or
    one that turns the direction of the text, say something else to a terminal. No encoding has lone surrogates.
    """
    text = given if isinstance(given, str) else str(given)
    if isinstance(text, Listing) or text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


class Listing(str):
    """A text of several lines for a message, each of them `printable`; made by `listing`."""

    __slots__ = ()


def listing(head: str, lines: Iterable[str]) -> Listing:
    """A text for a message with lines of its own below it."""
    return Listing("\n    ".join(map(printable, (head, *lines))))


def quoted(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message: ``"a", "b", "c"``, cut after `limit`."""
    known = list(names)
    text = ", ".join(f'"{name}"' for name in known[:limit])
    return f"{text}, ... ({len(known)} in all)" if len(known) > limit else text or "none"


def and_given(tables: Iterable[tuple[str, ...]]) -> str:
    """What is added where a table is not there: those that ``tables=`` gives, by their names; nothing for none."""
    names = [".".join(each) for each in tables]
    return f"; tables gives {quoted(names)}" if names else ""


def shortened(text: str, limit: int = 200) -> str:
    """A text for a message, cut after `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def kind_words(value: object) -> str:
    """What an object is, by the name of its class in words: "a nested loop join"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(value).__name__).lower()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def require(value: object, kinds: type | tuple[type, ...], expected: str, hint: str | None = None) -> None:
    """Raise `InvalidArgumentError` for what is of none of these classes: ``require(name, str, "a name is a str")``."""
    if not isinstance(value, kinds):
        raise InvalidArgumentError(f"{expected}, got {value!r}", hint=hint)


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to a misspelt one, as `nearest` finds it, as a hint, or None."""
    near = nearest(name, known)
    return None if near is None else f'did you mean "{near}"?'


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to a misspelt one, or the one that it is a part of, or None.

    No name is better than a far one: people write it. A short name is told from others by one letter only.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    given = name.lower()
    near = close_matches(given, by_lower, 0.75 if len(given) > 3 else 0.6)
    if not near and len(given) > 2:
        near = [each for each in by_lower if each.startswith(given) or each.endswith(f"_{given}")]
        near = near if len(near) == 1 else []
    return by_lower[near[0]] if near else None


def close_matches(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    """The known name that is most similar to another, if it is similar enough.

    Args:
        name: the other.
        known: the names to choose from.
        cutoff: how similar they have to be, from 0 to 1.

    Returns:
        One name, or none.
    """
    import difflib  # a program without a mistake need not load it

    return difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)


def unknown_choice(
    what: str, given: object, allowed: Iterable[str], habits: Mapping[str, str] | None = None
) -> InvalidChoiceError:
    """The error for a word outside a closed list of words; `habits` are words of others and what to write here."""
    words = list(allowed)
    habit = habits.get(given) if habits and isinstance(given, str) else None
    if habit:
        return InvalidChoiceError(
            f"unknown {what} {given!r}; expected one of {quoted(words, limit=40)}", hint=f"write {habit}"
        )
    return InvalidChoiceError(
        f"unknown {what} {given!r}; expected one of {quoted(words, limit=40)}",
        hint=suggestion(given, words) if isinstance(given, str) else None,
    )


def require_choice(what: str, given: object, allowed: Sequence[str], habits: Mapping[str, str] | None = None) -> None:
    """Raise `InvalidChoiceError` for anything but one of these words."""
    if not isinstance(given, str) or given not in allowed:  # an expression does not say what it equals
        raise unknown_choice(what, given, allowed, habits)


class placing:  # noqa: N801  # used as a function
    """Say in every error raised inside which column, key or measure it is about, unless it says so already."""

    __slots__ = ("place",)

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SubstraitDslError) and error.place is None and error.verb is None:
            error.place = self.place


class naming:  # noqa: N801  # used as a function
    """Name the verb in every error raised inside, unless a verb nearer to the mistake already did."""

    __slots__ = ("verb",)

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SubstraitDslError) and error.verb is None:
            error.verb = self.verb
