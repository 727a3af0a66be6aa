"""Every error the library raises, in one tree.

Each class is also the builtin it is closest to, so ``except ValueError`` keeps working. An error carries what it is
about as fields: the names that the program wrote (`names`), what came (`got`), the verb that refused (`verb`), the
column or measure (`place`), where in a plan it was found (`path`), and a stable `code` for programs; a class has fields
of its own, such as the `name` and the `candidates` of `UnknownFieldError`. Its text (`message`, ``str(error)``) is made
of the fields when somebody asks for it. Nothing in the library reads that text again: what is to be known is a field.

The `hint`, what to write instead, is looked up in the table of hints when it is first read; see `look_up_hints`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from substrait_dsl.texts import class_words as class_words
from substrait_dsl.texts import close_matches as close_matches
from substrait_dsl.texts import listing as listing
from substrait_dsl.texts import nearest as nearest
from substrait_dsl.texts import printable as printable
from substrait_dsl.texts import quote as quote
from substrait_dsl.texts import shorten as shorten
from substrait_dsl.texts import suggestion as suggestion


class _Absent:
    """The default of an argument that may be None."""


_ABSENT: Final = _Absent()


class SubstraitDslError(Exception):
    """Base of all errors of this library.

    Args:
        text: what is wrong, or what was expected. A class with fields of its own makes it of them.
        got: what came, which the message tells; if it is a text, it is one of `names`.
        names: names and texts of the program that the error is about, the most telling first; numbers are left out.
        reason: an error that says more: the message ends with its message, and its hint is the hint if there is none.
        remedy: the key of what to do about it in the table of hints, for those who do not know the words people write.
        details: what the hint under `remedy` tells beside the fields of the error.
        hint: what to do about it; a function is called when somebody asks for it.
        path: where in a plan it is.
    """

    code: ClassVar[str] = "error"

    def __init__(
        self,
        text: str | None = None,
        *,
        got: object = _ABSENT,
        names: Iterable[object] = (),
        reason: SubstraitDslError | None = None,
        remedy: str | None = None,
        details: Mapping[str, object] | None = None,
        hint: str | Callable[[], str | None] | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(*(() if text is None else (printable(text),)))
        self.text = text
        self.got = None if got is _ABSENT else repr(got)
        self.reason = reason
        self.remedy = remedy
        self.details = details
        self.path = path
        self.verb: str | None = None
        self.place: str | None = None
        self._names = tuple(name for name in (*names, got) if isinstance(name, str))
        self._place_names: tuple[str, ...] = ()
        self._message: str | None = None
        self._hint = hint

    @property
    def message(self) -> str:
        """The message: what was expected and what came, in one sentence."""
        if self._message is not None:
            return self._message
        text = printable(self._sentence())
        return text if self.reason is None else f"{text}: {self.reason.message}"

    @message.setter
    def message(self, message: str) -> None:
        self._message = message

    def _sentence(self) -> str:
        """Return the message that the fields make."""
        text = self.text or ""
        return text if self.got is None else f"{text}, got {self.got}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names and texts of the program that the error is about, the most telling first."""
        inner = () if self.reason is None else self.reason.names
        return (*self._names, *inner, *self._place_names)

    @property
    def hint(self) -> str | None:
        """The hint: what to write instead. It is looked up when it is first read."""
        hint = self._hint() if callable(self._hint) else self._hint
        if hint is not None:
            return hint
        found = None if _Hints.look_up is None else _Hints.look_up(self)
        return self._suggestion() if found is None else found

    @hint.setter
    def hint(self, hint: str | Callable[[], str | None] | None) -> None:
        self._hint = hint

    def _suggestion(self) -> str | None:
        """Return the hint of an error that has none: a near candidate, or the hint of the reason."""
        return None if self.reason is None else self.reason.hint

    def __reduce__(self) -> str | tuple[object, ...]:
        self._hint = self.hint  # what looks for it cannot be pickled
        return _without_fields, (type(self), self.args), self.__dict__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def _headline(self) -> str:
        """Return the verb, the place, the message and the path, without the hint."""
        head = ", ".join(part for part in (self.verb, self.place) if part)
        text = f"{printable(head)}: {self.message}" if head else str(self.message)
        return f"{text} (at {printable(self.path)})" if self.path else text

    def __str__(self) -> str:
        text = self._headline()
        if hint := self.hint:
            text += f"\n  hint: {printable(hint)}"
        return text


def _without_fields(error_class: type[SubstraitDslError], args: tuple[object, ...]) -> SubstraitDslError:
    """Return an error that pickle puts the fields into: no class need be called with them again."""
    error = error_class.__new__(error_class)
    error.args = args
    return error


def are_same(one: SubstraitDslError, other: SubstraitDslError, *, anywhere: bool = False) -> bool:
    """Return whether two errors are about the same mistake, of the same verb and place, or anywhere."""
    first, second = ((type(each), each.path, each.message) for each in (one, other))
    return first == second and (anywhere or (one.verb, one.place) == (other.verb, other.place))


class _Hints:
    """Who is asked what to do about an error that does not say so itself."""

    look_up: ClassVar[Callable[[SubstraitDslError], str | None] | None] = None


def look_up_hints(look_up: Callable[[SubstraitDslError], str | None]) -> None:
    """Let a function say, by its fields, what to do about an error that does not say so itself."""
    _Hints.look_up = look_up


class Difference:
    """How a column of a relation differs from the one that is declared.

    Args:
        name: the name of the column.
        declared: the declared type; None for a column that is not declared.
        type: the type of the column; None for one that is missing.
        is_of_nullability: whether the types are the same, but for NULL, which only the declared type does not hold.
    """

    __slots__ = ("declared", "is_of_nullability", "name", "type")

    def __init__(self, name: str, declared: str | None, type: str | None, is_of_nullability: bool = False) -> None:
        self.name, self.declared, self.type, self.is_of_nullability = name, declared, type, is_of_nullability

    def _fields(self) -> tuple[object, ...]:
        return (self.name, self.declared, self.type, self.is_of_nullability)

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, Difference) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Difference{self._fields()}"

    def __str__(self) -> str:
        if self.type is None:
            return f"{self.name} is missing"
        if self.declared is None:
            return f"{self.name} is not declared"
        if self.is_of_nullability:
            return f"{self.name} is nullable ({self.type}), declared required"
        return f"{self.name} is {self.type}, declared {self.declared}"


class SchemaError(SubstraitDslError, ValueError):
    """The shape of a relation or schema breaks a rule of the specification."""

    code = "schema"
    differences: tuple[Difference, ...] = ()
    """How the columns differ from those that are declared, if that is the mistake."""

    @classmethod
    def of_columns(cls, declaration: str, differences: Sequence[Difference], hint: str | None = None) -> SchemaError:
        """Return the error for columns that are not those of a declaration, which has a name."""
        error = cls(f"the columns are not those of {declaration}: {'; '.join(map(str, differences))}", hint=hint)
        error.differences = tuple(differences)
        return error


class TypeMismatchError(SubstraitDslError, TypeError):
    """A value or expression has another type than the place it was put in."""

    code = "type-mismatch"


class LiteralError(TypeMismatchError, ValueError):
    """A Python value does not fit the Substrait type it should become."""

    code = "literal"
    value: str | None = None
    """The value, as Python shows it, if the error is that it does not fit `type`."""
    shown: str | None = None
    """The value where it stands inside a text."""
    type: str | None = None
    takes: str | None = None
    """Which values the type takes, if the value is of a class of Python's that does not fit it, whatever it is."""

    @classmethod
    def of_value(
        cls,
        value: str,
        type: object,
        problem: str = "",
        *,
        takes: str | None = None,
        names: Iterable[str] = (),
        remedy: str | None = None,
        hint: str | None = None,
    ) -> LiteralError:
        """Return the error for a value, as Python shows it, that does not fit a type; `problem` or `takes` says why."""
        error = cls(problem, names=names, remedy=remedy, hint=hint)
        error.value = error.shown = value
        error.type = str(type)
        error.takes = takes
        return error

    def _sentence(self) -> str:
        if self.value is None:
            return super()._sentence()
        why = self.text if self.takes is None else f"it takes {self.takes}"
        return f"{self.value} does not fit {self.type}{f': {why}' if why else ''}"


class UnknownFieldError(SubstraitDslError, LookupError):
    """A column, field or position that does not exist.

    `name` is the name or the position, `candidates` are the names that exist.
    """

    code = "unknown-field"
    name: str | int | None = None
    candidates: tuple[str, ...] = ()
    kind: str = "column"
    inside: str = ""

    @classmethod
    def of_name(
        cls, name: str | int, candidates: Iterable[str], kind: str = "column", inside: str = ""
    ) -> UnknownFieldError:
        """Return the error for a name or position that no field has; `inside` says of what, if that is not clear."""
        error = cls(names=[name] if isinstance(name, str) else ())
        error.name, error.candidates = name, tuple(candidates)
        error.kind, error.inside = kind, inside
        return error

    def _suggestion(self) -> str | None:
        return suggestion(self.name, self.candidates) if isinstance(self.name, str) else super()._suggestion()

    @classmethod
    def of_position(cls, position: int, kind: str, rest: str) -> UnknownFieldError:
        """Return the error for a position that no field has; `rest` says what there is."""
        error = cls(f"there is no {kind} {position}{rest}")
        error.name, error.kind = position, kind
        return error

    def _sentence(self) -> str:
        if self.text is not None or self.name is None:
            return super()._sentence()
        name = f'"{self.name}"' if isinstance(self.name, str) else str(self.name)
        are = "is" if len(self.candidates) == 1 else "are"
        return f"there is no {self.kind} {name}{self.inside}; there {are} {quote(self.candidates)}"


class AmbiguousFieldError(SubstraitDslError, LookupError):
    """A column name that several columns carry.

    Fields: `name`, and its `positions`.
    """

    code = "ambiguous-field"
    name: str | None = None
    positions: tuple[int, ...] = ()

    @classmethod
    def of_name(cls, name: str, positions: Iterable[int]) -> AmbiguousFieldError:
        """Return the error for a name that stands at several positions of a row."""
        error = cls(names=(name,), remedy="ambiguous-column")
        error.name, error.positions = name, tuple(positions)
        return error

    def _sentence(self) -> str:
        if self.text is not None or self.name is None:
            return super()._sentence()
        return f'column "{self.name}" is ambiguous: it stands at positions {", ".join(map(str, self.positions))}'


SHOWN_CANDIDATES = 3
"""How many of the candidates a message shows, the nearest first: the hint comes after them."""


class FunctionNotFoundError(SubstraitDslError, TypeError, LookupError):
    """No function of that name, or none that takes these argument types.

    `function` is its name; if there is such a function, `arguments` are those of the call, as texts, `candidates` the
    overloads that come nearest, and `candidate_count` is how many there are.
    """

    code = "function-not-found"
    function: str | None = None
    arguments: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    candidate_count: int = 0
    refused_value: LiteralError | None = None
    """Why a value of Python's does not fit the other operand, if that is what the hint says."""

    @classmethod
    def of_call(
        cls,
        function: str,
        arguments: Iterable[str],
        candidates: Sequence[object],
        *,
        names: Iterable[str] = (),
        hint: str | None = None,
    ) -> FunctionNotFoundError:
        """Return the error for a call of a function of which no overload takes the arguments.

        The nearest ones come first.
        """
        error = cls(names=names, hint=hint)
        error.function, error.arguments, error.candidate_count = function, tuple(arguments), len(candidates)
        error.candidates = tuple(map(str, candidates[:SHOWN_CANDIDATES]))
        return error

    @property
    def call(self) -> str:
        """The call, with the types of its arguments."""
        return f"{self.function}({', '.join(self.arguments)})"

    @property
    def nearest_candidates(self) -> tuple[str, ...]:
        """The nearest overloads, and how many there are if these are not all."""
        more = [f"... ({self.candidate_count} in all)"] if self.candidate_count > len(self.candidates) else []
        return (*self.candidates, *more)

    def _sentence(self) -> str:
        if self.text is not None or self.function is None:
            return super()._sentence()
        refusal = f"no overload takes {self.call}"
        if self.refused_value is not None:  # an overload would take another value: the hint says which
            return refusal
        return listing(f"{refusal}; there is", self.nearest_candidates)


class UnknownFunctionError(FunctionNotFoundError, AttributeError):
    """There is no function of that name."""

    code = "unknown-function"


class UnknownAttributeError(SubstraitDslError, AttributeError):
    """A method or verb that does not exist."""

    code = "unknown-attribute"


class InvalidChoiceError(SubstraitDslError, ValueError):
    """A word that is not one of the allowed ones.

    Fields: `what` is chosen, `got`, which came, and the `candidates` that are allowed.
    """

    code = "invalid-choice"
    what: str | None = None
    candidates: tuple[str, ...] = ()
    receiver: str | None = None
    """The receiver of foreign words in the table of hints."""

    @classmethod
    def of_word(
        cls, what: str, got: object, candidates: Iterable[str], receiver: str | None = None
    ) -> InvalidChoiceError:
        """Return the error for a word outside a closed list of words."""
        error = cls(got=got)
        error.what, error.candidates, error.receiver = what, tuple(candidates), receiver
        if isinstance(got, str):
            error.word = got
        return error

    word: str | None = None
    """The word that came, if it is one."""

    def _sentence(self) -> str:
        if self.what is None:
            return super()._sentence()
        return f"unknown {self.what} {self.got}; expected one of {quote(self.candidates, limit=40)}"

    def _suggestion(self) -> str | None:
        return None if self.word is None else suggestion(self.word, self.candidates)


class InvalidArgumentError(SubstraitDslError, TypeError, ValueError):
    """A verb was called with an argument it cannot take."""

    code = "invalid-argument"


class SignatureError(InvalidArgumentError):
    """A call has an argument that nothing takes, or lacks one.

    `function` is what is called, and `signature` its parameters; of the others one says what is wrong.
    """

    code = "signature"
    function: str | None = None
    signature: str = ""
    unknown: tuple[str, ...] = ()
    """The names of arguments that there are not."""
    surplus: str | None = None
    """The first argument by position that nothing takes, as Python shows it."""
    repeated: tuple[str, ...] = ()
    """The arguments that are given both by position and by name."""
    missing: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    """The names that an argument of an unknown name may have been meant for."""

    def _sentence(self) -> str:
        if self.function is None:
            return super()._sentence()
        if self.unknown:
            wrong = f"there is no argument {quote(self.unknown)}"
        elif self.surplus is not None:
            wrong = f"nothing takes the argument {self.surplus}"
        elif self.repeated:
            wrong = f"{quote(self.repeated)} is given by position and by name"
        else:
            wrong = f"{quote(self.missing)} {'is' if len(self.missing) == 1 else 'are'} missing"
        return f"{wrong}; expected {self.function}({self.signature})"

    def _suggestion(self) -> str | None:
        return suggestion(self.unknown[0], self.candidates) if self.unknown else None


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
    engine: str | None = None
    """The name of the engine that cannot do it, as ``"Spark"`` or ``"Sail"``, if the plan was for a session of one."""
    step: str | None = None
    """The step of the plan that is refused, as the text of the plan shows it, if it is one step."""
    expression: str | None = None
    """The part of the step that is refused."""
    function: str | None = None
    """The name of the function whose result has no known type, if that is why a plan cannot be read."""
    refused: object = None
    """The node that was being lowered, by which the step is found."""
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
    value: str | None = None
    """The text that a cast refused, if that is why."""
    table: tuple[str, ...] | None = None
    """The name of the table or view that is not there, if that is why."""


def require(value: object, classes: type | tuple[type, ...], expected: str, hint: str | None = None) -> None:
    """Raise `InvalidArgumentError` for what is of none of these classes: ``require(name, str, "a name is a str")``."""
    if not isinstance(value, classes):
        raise InvalidArgumentError(expected, got=value, hint=hint)


def require_choice(what: str, value: object, allowed: Sequence[str], receiver: str | None = None) -> None:
    """Raise `InvalidChoiceError` for anything but one of these words.

    Args:
        what: what they choose, for the message.
        value: what came.
        allowed: the words.
        receiver: whose words of others the table of hints has, if it has any.
    """
    if not isinstance(value, str) or value not in allowed:  # an expression does not say what it equals
        raise InvalidChoiceError.of_word(what, value, allowed, receiver)


class error_context:  # noqa: N801  # used as a function
    """Say in every error that is raised inside what it is about, as far as it does not say so already.

    Args:
        verb: the verb that was called; an error keeps the one that is nearest to the mistake.
        place: the column, key, measure or argument: ``error_context(place="post_filter")``.
        name: the name of the place, if it has one: ``error_context(place="column", name="x")``.
        names: names of the program that the text of the error has already.
    """

    __slots__ = ("name", "names", "place", "verb")

    def __init__(
        self,
        *,
        verb: str | None = None,
        place: str | None = None,
        name: str | None = None,
        names: Iterable[object] = (),
    ) -> None:
        self.verb, self.place, self.name, self.names = verb, place, name, names

    def __enter__(self) -> None:
        pass

    def __exit__(self, error_class: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, SubstraitDslError):
            return
        error._names += tuple(name for name in self.names if isinstance(name, str))
        if self.place is not None and error.place is None and error.verb is None:
            error.place = self.place if self.name is None else f'{self.place} "{self.name}"'
            error._place_names = () if self.name is None else (self.name,)
        if error.verb is None:
            error.verb = self.verb
