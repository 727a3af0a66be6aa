"""Signatures of the catalogue's overloads in the types of Python, for the stub."""

from __future__ import annotations

import itertools
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ForwardRef, TypeGuard, assert_never, get_args, get_origin

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.type_syntax import FIXED_FORMS, Constant, Expression, Name, TypeNode
from substrait_dsl.catalog import EnumArgument, Function, Option, Overload, TypeArgument, ValueArgument
from substrait_dsl.catalog.widening import EXCLUDED

CLASSES: Mapping[str, type[t.Type]] = {type_class.keyword: type_class for type_class in FIXED_FORMS} | {
    "struct": t.Struct,
    "nstruct": t.Struct,
    "func": t.Func,
    "u!": t.UserDefined,
}
"""The class of each type in the catalogue."""

_BOUNDS: Mapping[type[t.Type], tuple[str, ...]] = {
    t.Decimal: ("Precision38", "Scale38"),
    **dict.fromkeys(t.PRECISION_TYPES, ("SubSecond",)),
    **dict.fromkeys(t.LENGTH_TYPES, ("int",)),
}
"""The ranges of the integer parameters of a type."""

_UNNATURAL = frozenset({"i8", "i16", "i32", "fp32", "varchar", "fixedchar", "fixedbinary", "u!"})
"""Types that no Python value has by nature: ``f.add(1, 2)`` is an ``i64``, so that overload comes first."""

Argument = ValueArgument | EnumArgument | TypeArgument

_ANYTHING = "ExprBase | PythonValue"


class Words:
    """The names that a stub defines beside the functions: type variables, and aliases for the words of arguments.

    Args:
        taken: names that functions have and annotations need; these get an underscore in annotations.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = frozenset(taken)
        self.variables: dict[str, str] = {"_N": "bound=Null, default=Req", "_W": "bound=str"}
        self.choices: dict[str, tuple[str, ...]] = {}

    def variable(self, name: str, bound: str) -> str:
        """Return the name of a type variable."""
        # A default, since some variables stand behind `_N`, which has one.
        self.variables[name] = f"bound={bound}, default=Any" if bound else "default=Any"
        return name

    def choice(self, name: str, words: tuple[str, ...]) -> str:
        """Return the name of the alias for a set of words; `name` says what they are for."""
        stem = "_" + "".join(part.capitalize() for part in re.findall(r"[A-Za-z0-9]+", name))
        alias = next(alias for alias in _number_names(stem) if {*self.choices.get(alias, words)} == {*words})
        self.choices.setdefault(alias, words)
        return alias

    def safe(self, annotation: str) -> str:
        """Return an annotation without the taken names."""
        for name in self.taken:
            annotation = re.sub(rf"\b{name}\b", f"_{name}", annotation)
        return annotation


@attrs.frozen
class Signature:
    """The signature of one overload in a stub."""

    parameters: tuple[str, ...]
    result: str


def signatures(functions: Sequence[Function], words: Words) -> list[Signature]:
    """Return the signatures of functions of one name and kind, in the order in which a type checker should try them."""
    overloads = sorted((each for function in functions for each in function.overloads), key=_unnaturalness)
    needed = [each for number, each in enumerate(overloads) if not _is_covered(each, overloads[:number])]
    found: dict[tuple[str, ...], Signature] = {}
    for overload in needed:
        signature = _Translation(overload, words).signature()
        found.setdefault(signature.parameters, signature)  # Python has one type for them: the first is taken
    for signature in _widened(overloads, words):
        found.setdefault(signature.parameters, signature)
    of_measures = list(_measure_signatures(needed, words))
    if len({signature.result for signature in found.values()}) > 1:
        return [*_dynamic(needed, words), *found.values(), *of_measures]
    return [*found.values(), *of_measures]


def _unnaturalness(overload: Overload) -> int:
    patterns = [argument.pattern for argument in overload.arguments if isinstance(argument, ValueArgument)]
    return sum(pattern.keyword in _UNNATURAL for pattern in patterns)


def _is_covered(overload: Overload, earlier: Sequence[Overload]) -> bool:
    """Return whether an earlier overload takes any one type for all arguments, and says the same of the result."""
    return any(
        len(other.arguments) == len(overload.arguments)
        and all(isinstance(each, ValueArgument) and each.pattern.keyword == "any1" for each in other.arguments)
        and (other.returns, other.nullability) == (overload.returns, overload.nullability)
        and set(other.options) >= set(overload.options)
        for other in earlier
    )


def _widened(overloads: Sequence[Overload], words: Words) -> Iterator[Signature]:
    """Overloads for numbers of several types, of which a call casts the narrower ones (`catalog.widening`)."""
    seen: set[tuple[int, str]] = set()
    decimals = {len(each.arguments) for each in overloads if _keywords(each) == {"decimal"}}
    for overload in overloads:
        keywords, count = _keywords(overload), len(overload.arguments)
        several = count > 1 or (overload.variadic is not None and overload.variadic.minimum > 1)
        if not several or len(keywords) != 1 or overload.name in EXCLUDED or (count, *keywords) in seen:
            continue
        (keyword,) = keywords
        seen.add((count, keyword))
        marks = _WIDENED.get("any" if keyword[:3] == "any" and keyword != "any" else keyword, ())
        for mark, *values in marks:
            if mark == "Exact" and keyword == "i64" and count not in decimals:
                continue  # such a function has no modulus of decimals, say
            yield _Translation(overload, words, {keyword: (mark, *values)}).signature()


def _keywords(overload: Overload) -> set[str]:
    """Return the keywords of the types that an overload takes, an empty text for what is no type of a value."""
    return {each.pattern.keyword if isinstance(each, ValueArgument) else "" for each in overload.arguments}


_WIDENED: Mapping[str, Sequence[tuple[str, ...]]] = {
    "i64": (("Exact", "int", "decimal.Decimal"),),
    "fp64": (("Approximate", "float"),),
    "any": (("Exact", "int", "decimal.Decimal"), ("Approximate", "float")),
}
"""What operands may be beside each other, and the Python values, where an overload takes several of one type."""


def _dynamic(overloads: Sequence[Overload], words: Words) -> Iterator[Signature]:
    """Overloads for expressions whose types a checker does not know, lest it takes the first that would do.

    The first of the values decides what the others may be; where it is none of these expressions, the second.
    """
    result = "DynExpr" if overloads[0].kind == "scalar" else _result(overloads[0], "Any", "Any")
    return _led_by("DynExpr", result, overloads, words)


def _measure_signatures(overloads: Sequence[Overload], words: Words) -> Iterator[Signature]:
    """Overloads for measures, of which a scalar function makes a measure: one of the first two arguments is one."""
    if overloads[0].kind == "scalar" and any(
        isinstance(argument, ValueArgument) for overload in overloads for argument in overload.arguments
    ):
        yield from _led_by("MeasureBase", "Measure[Any, Any]", overloads, words, takes_many=True)


def _led_by(
    leader: str, result: str, overloads: Sequence[Overload], words: Words, *, takes_many: bool = False
) -> Iterator[Signature]:
    """Overloads by the type of one of the first two values, whatever the other arguments are.

    With `takes_many` one of them is for the second value of a function of any number of them, too.
    """
    longest = max(overloads, key=lambda overload: len(overload.arguments))
    names = _parameter_names(longest.arguments, [option for overload in overloads for option in overload.options])
    if takes_many and longest.variadic is not None:
        names.append(f"{names[-1]}2")
    enums: dict[int, list[str]] = {}
    for overload in overloads:
        for position, argument in enumerate(overload.arguments):
            if isinstance(argument, EnumArgument):
                enums.setdefault(position, []).append(words.choice(argument.name, argument.options))
    first = next(position for position in range(len(names) + 1) if position not in enums)
    leading = [" | ".join(dict.fromkeys(enums[position])) for position in range(first)]
    options = _options([option for overload in overloads for option in overload.options], words)
    for skipped in range(min(2, len(names) - first)):
        types = [*leading, *["object"] * skipped, leader]
        parameters = [f"{name}: {words.safe(type_)}" for name, type_ in zip(names, types, strict=False)]
        yield Signature((*parameters, "/", f"*more: {words.safe('object')}", *options), words.safe(result))


def _options(options: Sequence[Option], words: Words) -> list[str]:
    """Return the parameters for function options. Those that are no Python names can only be passed by ``**``."""
    values: dict[str, dict[str, None]] = {}
    for option in options:
        values.setdefault(option.name, {}).update(dict.fromkeys(option.values))
    usual = {name: allowed for name, allowed in values.items() if name.isidentifier() and not keyword.iskeyword(name)}
    parameters = [f"{name}: _Preference[{words.choice(name, tuple(allowed))}] = ..." for name, allowed in usual.items()]
    return parameters if len(usual) == len(values) else [*parameters, f"**options: {words.safe('_Preference[str]')}"]


def _result(overload: Overload, type_: str, nullability: str) -> str:
    match overload.kind:
        case "scalar":
            return f"Expr[{type_}, {nullability}]"
        case "aggregate":
            return f"Measure[{type_}, {nullability}]"
        case "window":
            return f"WindowFunction[{type_}, {nullability}]"
        case _:
            assert_never(overload.kind)


class _Translation:
    """One overload in Python's types."""

    def __init__(self, overload: Overload, words: Words, widened: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.overload = overload
        self.numbers = widened or {}
        self.words = words
        self.mirrors = overload.nullability == "MIRROR"
        self.assigned = {name for name, _ in overload.returns.assignments}
        patterns = [argument.pattern for argument in overload.arguments if isinstance(argument, ValueArgument)]
        self.bare = {node.keyword for node in (*patterns, overload.returns.result) if _is_any(node)}
        self.uses: Counter[str] = Counter()
        self.single: frozenset[str] | None = None

    def signature(self) -> Signature:
        """Return the parameters and the result."""
        self.written()  # to count: a type variable that stands once says nothing
        self.single = frozenset(name for name, count in self.uses.items() if count == 1)
        return self.written()

    def written(self) -> Signature:
        self.uses.clear()
        values = self.values()
        result = self.words.safe(_result(self.overload, *self.result()))
        if self.numbers and not self._has_one_result():
            result = self.words.safe(
                "DynExpr" if self.overload.kind == "scalar" else _result(self.overload, "Any", "Any")
            )
        options = _options(self.overload.options, self.words)
        if any(value.startswith("*") for value in values):
            return Signature((*values, *options), result)
        separator = ["*"] if options and not options[0].startswith("**") else []
        return Signature((*values, *["/"] * bool(values), *separator, *options), result)

    def _has_one_result(self) -> bool:
        """Return whether the type of the result is one that the widened operands do not decide."""
        node = self.overload.returns.result
        return isinstance(node, TypeNode) and not self.assigned and node.keyword not in self.numbers

    def values(self) -> list[str]:
        """Return the positional parameters."""
        arguments, variadic = self.overload.arguments, self.overload.variadic
        names = _parameter_names(arguments, self.overload.options)
        if variadic is None:
            return [self.parameter(*pair) for pair in zip(names, arguments, strict=True)]
        *fixed, last = arguments
        numbered = [f"{names[-1]}{number}" for number in range(1, variadic.minimum + 1)]
        parameters = [self.parameter(*pair) for pair in zip(names, fixed, strict=False)]
        parameters += [self.parameter(name, last) for name in numbered]
        return [*parameters, *["/"] * bool(parameters), self.parameter(f"*{names[-1]}", last)]

    def parameter(self, name: str, argument: Argument) -> str:
        match argument:
            case EnumArgument():
                return f"{name}: {self.words.choice(argument.name, argument.options)}"
            case TypeArgument():
                return f"{name}: {self.words.safe('Type | type[Type]')}"
            case ValueArgument():
                return f"{name}: {self.words.safe(self.value(argument.pattern))}"
            case _:
                assert_never(argument)

    def value(self, pattern: TypeNode) -> str:
        if pattern.keyword == "func":
            taken = ", ".join(["DynExpr"] * (len(pattern.parameters) - 1))
            return f"Callable[[{taken}], {_ANYTHING}] | ExprBase"
        numbers = self.numbers.get(pattern.keyword)
        text = "" if numbers else self.type_text(pattern)
        if text == "Any" and not self.mirrors:
            return _ANYTHING
        required = self.overload.nullability == "DISCRETE" and not pattern.nullable
        nullability = self.use_name("_N") if self.mirrors else "Req" if required else "Null"
        if numbers:
            mark, *values = numbers
            return " | ".join((f"{mark}[{nullability}]", *values))
        return " | ".join(filter(None, (f"Expr[{text}, {nullability}]", _python_values(pattern))))

    def result(self) -> tuple[str, str]:
        """Return the type and the nullability of the result."""
        node = self.overload.returns.result
        text = self.type_text(node) if isinstance(node, TypeNode) else "Any"
        if self.mirrors:
            return text, "_N" if self.uses["_N"] else "Req"
        if isinstance(node, TypeNode) and node.nullable:
            return text, "Null"
        return text, "Any" if _is_any(node) or not isinstance(node, TypeNode) else "Req"

    def type_text(self, node: TypeNode) -> str:
        if node.is_any:
            return "Any" if node.keyword == "any" else self.variable(f"_T{node.keyword[3:]}", "Type")
        type_class = CLASSES.get(node.keyword)
        if type_class is None:
            return "Any"
        if type_class is t.Struct:
            return "Struct[Any]"
        if not node.parameters or type_class in (t.UserDefined, t.Func):
            return type_class.__name__
        inside = (self.type_parameter(type_class, number, part) for number, part in enumerate(node.parameters))
        return f"{type_class.__name__}[{', '.join(inside)}]"

    def type_parameter(self, type_class: type[t.Type], number: int, part: Expression) -> str:
        match part:
            case TypeNode(keyword=label) if part.is_any:
                # The items of a list may be nullable, a bare ``any1`` says nothing of that: they are not compared.
                return "Any" if label in self.bare or label == "any" else self.variable(f"_Item{label[3:]}", "")
            case TypeNode():
                return f"Nullable[{self.type_text(part)}]" if part.nullable else self.type_text(part)
            case Constant(int() as value):
                return f"Literal[{value}]"
            case Name(text) if text not in self.assigned:
                bound = _BOUNDS[type_class][number]
                return self.variable(f"_{text.upper()}{'_digits' if bound == 'SubSecond' else ''}", bound)
            case _:
                return "Any"

    def variable(self, name: str, bound: str) -> str:
        self.use_name(name)
        if self.single is None:
            return name
        return "Any" if name in self.single else self.words.variable(name, bound)

    def use_name(self, name: str) -> str:
        self.uses[name] += 1
        return name


def _is_any(node: Expression) -> TypeGuard[TypeNode]:
    return isinstance(node, TypeNode) and node.is_any


def _python_values(pattern: TypeNode) -> str:
    """Return the Python values that become literals of a type, as `WrittenAs` says."""
    if pattern.is_any:
        return "PythonValue"
    type_class = CLASSES.get(pattern.keyword)
    if type_class is None or type_class is t.UserDefined:
        return ""
    bases = getattr(type_class, "__orig_bases__", ())
    return next((_class_text(get_args(base)[0]) for base in bases if get_origin(base) in (t.WrittenAs, t.Number)), "")


def _class_text(mark: Any) -> str:
    if isinstance(mark, ForwardRef):
        return mark.__forward_arg__
    text = mark.__name__ if mark in (bool, int, float, str, bytes) else str(mark)
    if isinstance(mark, type) and mark.__module__ in ("datetime", "uuid"):
        text = f"{mark.__module__}.{mark.__name__}"
    return re.sub(r"\b(?:typing|collections\.abc)\.", "", text).replace("datetime.", "dt.", 1)


def _parameter_names(arguments: Sequence[Argument], options: Sequence[Option]) -> list[str]:
    """Return the names of the arguments, as far as Python takes them.

    Arguments are positional: no call depends on these.
    """
    taken = {option.name for option in options}
    names: list[str] = []
    for argument in arguments:
        stem = argument.name if argument.name.isidentifier() and not keyword.iskeyword(argument.name) else "value"
        name = next(name for name in _number_names(stem) if name not in taken)
        taken.add(name)
        names.append(name)
    return names


def _number_names(stem: str) -> Iterator[str]:
    """Yield a name, then the same with a number: ``x``, ``x2``, ``x3``."""
    yield stem
    yield from (f"{stem}{number}" for number in itertools.count(2))
