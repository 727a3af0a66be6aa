"""The errors of overload resolution: the call, the candidates, and a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from substrait_dsl.catalog.call_arguments import CallArgument, EnumValue, Open, Typed
from substrait_dsl.catalog.casts import widening_cast
from substrait_dsl.catalog.records import EnumArgument, Kind, Overload
from substrait_dsl.catalog.resolve import takes_argument
from substrait_dsl.errors import FunctionNotFoundError, quote, suggestion

MAX_ARGUMENTS = 50
"""Of a call with more arguments only these are told and tried: to find a cast takes long for many."""


def unknown_function(
    name: str, kinds: Sequence[Kind], known: Callable[[], Iterable[str]], other_kinds: Sequence[Kind]
) -> FunctionNotFoundError:
    """Return the error for a name that no function of these kinds has; `other_kinds` are the kinds it does have."""
    wanted = " or ".join(kinds)
    if other_kinds:
        expected = f'"{name}" is {_with_article(other_kinds)} function; expected {_with_article(kinds)} function'
        error = FunctionNotFoundError(expected, names=[name])
    else:
        error = FunctionNotFoundError(
            f'there is no {wanted} function "{name}"',
            names=[name],
            hint=lambda: suggestion(name, sorted(set(known()))),
        )
    error.function = name
    return error


def _with_article(kinds: Sequence[Kind]) -> str:
    return " or ".join(f"{'an' if kind == 'aggregate' else 'a'} {kind}" for kind in kinds)


def unknown_extension(urn: str, known: Sequence[str]) -> FunctionNotFoundError:
    """Return the error for a URN that is not in the catalogue."""
    return FunctionNotFoundError(
        f'there is no extension "{urn}" in the catalogue; it has {quote(known, limit=20)}',
        names=[urn],
        hint=suggestion(urn, known),
    )


def no_overload(name: str, arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> FunctionNotFoundError:
    """Return the error for arguments that no overload takes, with the nearest candidates and the cast that helps."""
    # The number of arguments first; then how many of them fit on their own.
    shown = arguments[:MAX_ARGUMENTS]
    ranked = sorted(overloads, key=lambda each: (not each.takes_count(len(arguments)), -_fitting(each, shown)))
    more = [f"... {len(arguments)} arguments"] if len(shown) < len(arguments) else []
    hint = _word_hint(arguments, ranked) or _count_hint(arguments, ranked) or _more_hint(shown, ranked)
    hint = hint or (None if more else widening_cast(arguments, overloads))
    words = [word for word in map(_word, shown) if word is not None]
    return FunctionNotFoundError.of_call(name, [*map(str, shown), *more], ranked, names=words, hint=hint)


def _fitting(overload: Overload, arguments: Sequence[CallArgument]) -> int:
    return sum(takes_argument(overload, position, arguments) for position in range(len(arguments)))


def _word_hint(arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> str | None:
    """Return the hint for a word that goes with other arguments, or for a misspelt one."""
    word = next((w for w in map(_word, arguments) if w is not None), None)
    if word is None:
        return None
    types = {argument.type.short_name for argument in arguments if isinstance(argument, Typed)}
    near: str | None = None
    fitting: list[Overload] = []
    for overload in overloads:
        words = next((each.options for each in overload.arguments if isinstance(each, EnumArgument)), ())
        if word.upper() in map(str.upper, words):
            fitting.append(overload)
        elif overload.takes_count(len(arguments)):
            near = near or suggestion(word, words)
    if not fitting or any(overload.takes_count(len(arguments)) for overload in fitting):
        return near
    best = min(fitting, key=lambda each: (not types.issubset(each.key.split(":")[1].split("_")), len(each.arguments)))
    return f"write {_example(best, word)}"


def _count_hint(arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> str | None:
    """Return the hint for a number of arguments that no overload has."""
    count = len(arguments)
    if not overloads or any(overload.takes_count(count) for overload in overloads):
        return None
    nearest = min(overloads, key=lambda each: abs(each.nearest_count(count) - count))
    wanted = nearest.nearest_count(count)
    return f"give it {wanted} arguments" if wanted > MAX_ARGUMENTS else f"write {_example(nearest, count=wanted)}"


def _more_hint(arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> str | None:
    """Return the hint for a call that lacks one argument of an overload."""
    for overload in overloads:
        if len(overload.arguments) == len(arguments) + 1 and _fitting(overload, arguments) == len(arguments):
            return f"write {_example(overload, next(filter(None, map(_word, arguments)), None))}"
    return None


def _word(argument: CallArgument) -> str | None:
    match argument:
        case EnumValue(name):
            return name
        case Open(enum=enum):
            return enum
        case _:
            return None


def _example(overload: Overload, word: str | None = None, count: int | None = None) -> str:
    """Return a call of an overload, with a word in the first place that takes one and the first of the others' words.

    `count` is how many arguments it has; those that are one argument several times are numbered.
    """
    parts: list[str] = []
    last = len(overload.arguments) - 1
    count = last + 1 if count is None else count
    for position in range(count):
        argument = overload.argument_at(position)
        number = position - last + 1 if count > last + 1 and position >= last else ""
        if isinstance(argument, EnumArgument):
            parts.append(f'"{argument.options[0] if parts or word is None else word}"')
        else:
            parts.append(f"{argument.name}{number}" if argument.name else "xyz"[position % 3])
    return f"{overload.name}({', '.join(parts)})"
