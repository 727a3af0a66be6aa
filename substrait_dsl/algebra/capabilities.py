"""The capabilities that a system declares, and the requirements of a plan that they do not meet.

Specification: the message ``Capabilities``, which had versions, messages, functions and types until 0.82, and dialect
files since, which have relations, expressions, functions and types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, cast

import attrs

from substrait_dsl.algebra.requirements import (
    EXPRESSION_WORDS,
    FUNCTION_KINDS,
    RELATION_WORDS,
    TYPE_WORDS,
    Forms,
)
from substrait_dsl.algebra.validators import TEXT, refusal
from substrait_dsl.errors import InvalidArgumentError, error_context, require, require_choice

All = Literal["all"]
ALL: All = "all"
Words = All | Mapping[str, frozenset[str] | None] | None
"""Declared relations or expressions: the forms of each word; None is all of them."""
Types = All | Mapping[str, Mapping[str, int]] | None
"""Declared types of the specification: the limits of the parameters of each."""
Names = frozenset[tuple[str, str]] | None
"""Declared types or variations of extensions: their URNs and their names."""


def _signatures(said: Iterable[str] | None) -> frozenset[str] | None:
    if said is None:
        return None
    with error_context(verb="FunctionCapability"):
        signatures = _several(said, "the signatures are several texts")
        for signature in signatures:
            require(signature, str, "a signature is a text, such as i64_i64")
        return frozenset(signatures)


def _options(said: Mapping[str, Iterable[str]] | None) -> Mapping[str, tuple[str, ...]] | None:
    if said is None:
        return None
    with error_context(verb="FunctionCapability"):
        require(said, Mapping, "the options are a dict of the values of each")
        options: dict[str, tuple[str, ...]] = {}
        for name, values in said.items():
            require(name, str, "the name of an option is a text")
            options[name] = _several(values, f"the values of the option {name} are several words")
            for value in options[name]:
                require(value, str, f"a value of the option {name} is a word")
        return options


def _check_variadic(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    match value:
        case None | (int(), int() | None):
            return
    raise refusal(instance, "variadic", "the least and the most arguments, or None", value)


@attrs.frozen
class FunctionCapability:
    """A function that a system has.

    Args:
        urn: the URN of the extension that declares it.
        name: its name, without its arguments.
        signatures: the arguments of the overloads that the system has, such as ``i64_i64``; None for all overloads.
        options: for each option that a call must have, the values that the system takes; None if the system does not
            say which options it takes.
        variadic: the least and the most arguments, if there are not as many as in the signature.

    Example:
        >>> sd.FunctionCapability("extension:io.substrait:functions_arithmetic", "add", ["i64_i64"]).signatures
        frozenset({'i64_i64'})
    """

    urn: str = attrs.field(validator=TEXT)
    name: str = attrs.field(validator=TEXT)
    signatures: frozenset[str] | None = attrs.field(default=None, converter=_signatures)
    options: Mapping[str, tuple[str, ...]] | None = attrs.field(default=None, converter=_options)
    variadic: tuple[int, int | None] | None = attrs.field(default=None, validator=_check_variadic)


Functions = Mapping[str, tuple[FunctionCapability, ...]] | None
"""Declared functions: those of each kind."""


SaidWords = All | Iterable[str] | Mapping[str, Iterable[str] | None] | None
SaidTypes = All | Iterable[str] | Mapping[str, Mapping[str, int]] | None
SaidFunctions = Iterable[FunctionCapability] | Mapping[str, Iterable[FunctionCapability]] | None

VERB = "Capabilities"
"""The verb that errors name."""


def _relations(said: SaidWords) -> Words:
    return _words(said, RELATION_WORDS, "relation")


def _expressions(said: SaidWords) -> Words:
    return _words(said, EXPRESSION_WORDS, "expression")


def _versions(said: Iterable[str] | None) -> frozenset[str] | None:
    return _texts(said, "versions", r"\d+\.\d+(\.\d+)?", 'versions are texts such as "0.106"')


def _modes(said: Iterable[str] | None) -> frozenset[str] | None:
    return _texts(said, "evaluation modes", "PER_PLAN|PER_RECORD", "they are PER_PLAN and PER_RECORD")


def _messages(said: Iterable[str] | None) -> frozenset[str] | None:
    return _texts(said, "messages", ".+", "they are type URLs, such as type.googleapis.com/acme.Scan")


def _user_defined_types(said: Iterable[tuple[str, str]] | None) -> Names:
    return _names(said, "user-defined types")


def _type_variations(said: Iterable[tuple[str, str]] | None) -> Names:
    return _names(said, "type variations")


def _types(said: SaidTypes) -> Types:
    if said is None or said == ALL:
        return cast("Types", said)
    with error_context(verb=VERB):
        what = 'the types are "all", words, or a dict of the limits of each word'
        return {
            require_word("type", word, TYPE_WORDS): _limits(word, limits)
            for word, limits in _map_words(said, {}, what).items()
        }


def _limits(word: str, said: Any) -> Mapping[str, int]:
    require(said, Mapping, f"the limits of the type {word} are a dict of numbers")
    for name, limit in said.items():
        require_word(f"number of the type {word}", name, TYPE_WORDS[word])
        if type(limit) is not int:
            raise InvalidArgumentError(f"the limit of the {name} of {word} is a number", got=limit)
    return dict(said)


def _functions(said: SaidFunctions) -> Functions:
    if said is None:
        return None
    with error_context(verb=VERB):
        what = "the functions are several, or a dict of those of each kind"
        if not isinstance(said, Mapping):
            return dict.fromkeys(FUNCTION_KINDS, _capabilities(said, what))
        return {
            require_word("kind of function", kind, FUNCTION_KINDS): _capabilities(functions, what)
            for kind, functions in said.items()
        }


def _capabilities(said: Any, what: str) -> tuple[FunctionCapability, ...]:
    functions = _several(said, what)
    for function in functions:
        require(function, FunctionCapability, "each function that a system has is a FunctionCapability")
    return functions


def _words(said: Any, known: Mapping[str, Forms | None], what: str) -> Words:
    if said is None or said == ALL:
        return cast("Words", said)
    with error_context(verb=VERB):
        named = _map_words(said, None, f'the {what}s are "all", words, or a dict of the forms of each word')
        return {require_word(what, word, known): _forms(known[word], f"{what} {word}", named[word]) for word in named}


def _forms(known: Forms | None, what: str, said: Any) -> frozenset[str] | None:
    if said is None:
        return None
    if known is None:
        raise InvalidArgumentError(f"the {what} has no forms", got=said)
    forms = _several(said, f"the forms of the {what} are several words")
    for form in forms:
        if known.words:
            require_word(f"form of the {what}", form, known.words)
        else:
            require(form, str, f"a form of the {what} is the type URL of a message")
    return frozenset(forms)


def require_word(what: str, word: Any, known: Collection[str]) -> str:
    """Return the word, if it is known; raise `InvalidChoiceError` with the nearest one for another."""
    require_choice(what, word, tuple(known))
    return cast("str", word)


def _map_words(said: Any, default: object, expected: str) -> Mapping[str, Any]:
    """Return the value of each word: a dict has them, a sequence of words gives each the default."""
    if isinstance(said, Mapping):
        return said
    words = _several(said, expected)
    for word in words:
        require(word, str, expected)
    return dict.fromkeys(words, default)


def _several(said: Any, expected: str) -> tuple[Any, ...]:
    if isinstance(said, str | bytes | Mapping) or not isinstance(said, Iterable):
        raise InvalidArgumentError(f"{expected}", got=said)
    return tuple(said)


def _texts(said: Any, what: str, pattern: str, expected: str) -> frozenset[str] | None:
    if said is None:
        return None
    with error_context(verb=VERB):
        texts = _several(said, f"the {what} are several texts")
        for text in texts:
            if not isinstance(text, str) or not re.fullmatch(pattern, text, re.DOTALL):
                raise InvalidArgumentError(f"{text!r} is none of the {what} that there are", hint=expected)
        return frozenset(texts)


def _names(said: Any, what: str) -> Names:
    if said is None:
        return None
    with error_context(verb=VERB):
        pairs = _several(said, f"the {what} are several pairs of a URN and a name")
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
                raise InvalidArgumentError(f"each of the {what} is a pair of a URN and a name", got=pair)
        return frozenset(pairs)


@attrs.frozen
class Capabilities:
    """The capabilities that a system declares. A field that it does not declare is None, not empty.

        system = sd.Capabilities(relations=["READ", "FILTER", "PROJECT"], types="all")
        print(orders.to_plan().check(system))

    `read_capabilities` reads them from a file.

    Args:
        name: what the system is called.
        versions: the versions of the specification, such as ``"0.106"`` or ``"0.106.0"``. The third number is that of
            corrections, which change no message: it does not count.
        relations: ``"all"``; the relations, by the words of dialect files; or a dict of them with the forms of each,
            such as ``{"FILTER": None, "JOIN": ["INNER", "LEFT"]}``, where None is all forms.
        expressions: likewise.
        types: ``"all"``; the types of the specification; or a dict of them with the largest number of each kind, such
            as ``{"I64": {}, "DECIMAL": {"precision": 38}}``.
        user_defined_types: the types of extensions, each by its URN and its name.
        type_variations: likewise.
        functions: the functions, whatever they are used as; or a dict of those of each kind, ``"scalar function"``,
            ``"aggregate function"`` and ``"window function"``, where a kind that is not there is one that the system
            says nothing about.
        evaluation_modes: ``PER_PLAN``, ``PER_RECORD``: how often variables such as the current time are evaluated.
        messages: the type URLs of the extension messages that the system understands.

    Raises:
        InvalidChoiceError: for a word that there is not, with the nearest one.
        InvalidArgumentError: for what is none of these.

    Specification: ``Capabilities`` in ``capabilities.proto`` of versions before 0.82, and ``dialect_schema.yaml``.

    Example:
        >>> nothing_said = sd.Capabilities()
        >>> print(nothing_said.relations)
        None
    """

    name: str = attrs.field(default="the system", validator=TEXT)
    versions: frozenset[str] | None = attrs.field(default=None, converter=_versions, kw_only=True)
    relations: Words = attrs.field(default=None, converter=_relations, kw_only=True)
    expressions: Words = attrs.field(default=None, converter=_expressions, kw_only=True)
    types: Types = attrs.field(default=None, converter=_types, kw_only=True)
    user_defined_types: Names = attrs.field(default=None, converter=_user_defined_types, kw_only=True)
    type_variations: Names = attrs.field(default=None, converter=_type_variations, kw_only=True)
    functions: Functions = attrs.field(default=None, converter=_functions, kw_only=True)
    evaluation_modes: frozenset[str] | None = attrs.field(default=None, converter=_modes, kw_only=True)
    messages: frozenset[str] | None = attrs.field(default=None, converter=_messages, kw_only=True)
