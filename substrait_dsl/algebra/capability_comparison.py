"""The requirements of a plan, compared with the capabilities that a system declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from substrait_dsl.algebra.capabilities import Capabilities, FunctionCapability, Words
from substrait_dsl.algebra.requirements import USER_DEFINED, Requirement
from substrait_dsl.errors import quote


def unmet_requirements(
    requirements: Iterable[Requirement], system: Capabilities
) -> Iterator[tuple[Requirement, str | None]]:
    """Yield the requirements that a system does not meet, with reasons; None where it declares nothing."""
    for requirement in requirements:
        match _problem(requirement, system):
            case _Silence.UNDECLARED:
                yield requirement, None
            case str(reason):
                yield requirement, reason
            case None:
                pass


_NOT_LISTED = "not listed"


class _Silence(Enum):
    UNDECLARED = "the system does not declare it"


_Problem = str | _Silence | None


def _problem(need: Requirement, system: Capabilities) -> _Problem:
    match need.kind:
        case "version":
            return _version_problem(need.name, system.versions)
        case "relation":
            return _word_problem(need, system.relations)
        case "expression":
            return _word_problem(need, system.expressions)
        case "scalar function" | "aggregate function" | "window function":
            functions = None if system.functions is None else system.functions.get(need.kind)
            return _Silence.UNDECLARED if functions is None else _function_problem(need, functions)
        case "type":
            return _type_problem(need, system)
        case "type variation":
            return _member_problem((need.urn, need.name), system.type_variations)
        case "evaluation mode":
            return _member_problem(need.name, system.evaluation_modes)
        case "message":
            if system.messages is None and _is_message_of_relation(need.name, system.relations):
                return None
            return _member_problem(need.name, system.messages)


def _version_problem(version: str, versions: frozenset[str] | None) -> _Problem:
    if versions is None:
        return _Silence.UNDECLARED
    if _minor(version) in map(_minor, versions):
        return None
    return f"it takes {quote(sorted(versions))}" if versions else "it takes no version"


def _minor(version: str) -> tuple[str, ...]:
    """Return the first two numbers of a version: the third is that of corrections, which change no message."""
    return tuple(version.split(".")[:2])


def _member_problem(member: object, members: frozenset[object] | None) -> _Problem:
    if members is None:
        return _Silence.UNDECLARED
    return None if member in members else _NOT_LISTED


def _word_problem(need: Requirement, words: Words) -> _Problem:
    is_message = "/" in need.form  # a type URL: to take all relations is not to understand the messages of anybody
    if words is None:
        return _Silence.UNDECLARED
    if isinstance(words, str):  # "all"
        return _Silence.UNDECLARED if is_message else None
    if need.name not in words:
        return _NOT_LISTED
    forms = words[need.name]
    if forms is None:
        return _Silence.UNDECLARED if is_message else None
    if not need.form or need.form in forms:
        return None
    return f"it has {quote(sorted(forms))}" if forms else "it has no form of it"


def _is_message_of_relation(type_url: str, relations: Words) -> bool:
    """Return whether a system takes a relation of an extension with that message."""
    return isinstance(relations, Mapping) and any(type_url in forms for forms in relations.values() if forms)


def _type_problem(need: Requirement, system: Capabilities) -> _Problem:
    if need.form == USER_DEFINED:
        return _member_problem((need.urn, need.name), system.user_defined_types)
    if system.types is None:
        return _Silence.UNDECLARED
    if isinstance(system.types, str):  # "all"
        return None
    limits = system.types.get(need.name)
    if limits is None:
        return _NOT_LISTED
    for name, number in need.numbers:
        if name in limits and number > limits[name]:
            return f"its {name} is at most {limits[name]}"
    return None


def _function_problem(need: Requirement, functions: Iterable[FunctionCapability]) -> _Problem:
    name, _, signature = need.name.partition(":")
    alike = [function for function in functions if function.name == name and function.urn == need.urn]
    if not alike:
        return _NOT_LISTED
    fitting = [function for function in alike if function.signatures is None or signature in function.signatures]
    if not fitting:
        known = {known for function in alike for known in function.signatures or ()}
        return f"it has {quote(sorted(f'{name}:{arguments}' for arguments in known))}"
    problems = [_option_problem(need, each) or _arguments_problem(need, signature, each) for each in fitting]
    return None if None in problems else problems[0]


def _option_problem(need: Requirement, function: FunctionCapability) -> str | None:
    """Return why options of calls are not met: they must be exactly those that the system lists."""
    if function.options is None:
        return None
    used = dict(need.options)
    for name in used:
        if name not in function.options:
            return f"it takes no option {name}"
    for name, values in function.options.items():
        if name not in used:
            return f"it needs the option {name}, {quote(values)}"
        if not set(values) & set(used[name]):
            return f"its option {name} is {quote(values)}"
    return None


def _arguments_problem(need: Requirement, signature: str, function: FunctionCapability) -> str | None:
    if need.arguments is None or function.signatures is None:
        return None
    fewest, most = need.arguments
    if function.variadic is not None:
        least, greatest = function.variadic
        if fewest < least:
            return f"it takes at least {least} arguments, and there are {fewest}"
        return f"it takes at most {greatest} arguments, and there are {most}" if greatest and most > greatest else None
    declared = len(signature.split("_")) if signature else 0
    if "!" in signature or most <= declared:  # names of types of extensions may have a `_`
        return None
    return f"it takes {declared} arguments, and there are {most}"
