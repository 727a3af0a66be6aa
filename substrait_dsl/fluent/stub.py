"""Typed stubs of functions: what a type checker and an editor know of ``f.sum(r.price)``.

A catalogue's functions are found by name when a program runs, so nothing in the source tells their types. A stub file
does: one Python overload for each overload of the catalogue, as far as Python's types reach. ``any1`` becomes a type
variable, an enumeration a `Literal`, MIRROR nullability a type variable that all arguments share. Types that a
program computes from numbers (the precision of a decimal product) become ``Any``.

``substrait_dsl/functions.pyi`` is made by ``python -m substrait_dsl.fluent.stub``, the stub of a user's own extension
by ``substrait-dsl stub my.yaml > my_functions.pyi``, to stand beside a ``my_functions.py``::

    from substrait_dsl import Functions, standard_catalog

    _functions = Functions(standard_catalog().with_extension("my.yaml"))

    def __getattr__(name):
        return getattr(_functions, name)
"""

from __future__ import annotations

import keyword
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ForwardRef, assert_never, get_args, get_origin

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.type_syntax import FIXED_FORMS, Constant, Expression, Name, TypeNode
from substrait_dsl.catalog import EnumArgument, Function, Overload, TypeArgument, ValueArgument, standard_catalog
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.namespace import python_name

WIDTH = 120
STANDARD_FILE = Path(__file__).parent.parent / "functions.pyi"
COMMAND = "python -m substrait_dsl.fluent.stub"
"""Writes the stub of the standard functions."""

_STANDARD_TEXT = "Every function of the specification's extensions, typed."
_STANDARD_EXPORTS = """\
from substrait_dsl.fluent.namespace import CatalogFunction as CatalogFunction
from substrait_dsl.fluent.namespace import Functions as Functions
from substrait_dsl.fluent.namespace import UnknownFunctionError as UnknownFunctionError
"""

_SETTINGS = """\
# Python values fit several overloads, the first is meant: mypy's overload-overlap, pyright's reportOverlappingOverload.
# An overload for any type hides one for dates that says the same: overload-cannot-match.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
# pyright: reportOverlappingOverload=false
# ruff: noqa: A001, D418  # the catalogue names the functions; a stub has only overloads to carry their documentation
"""

_CLASSES: Mapping[str, type[t.Type]] = {
    kind.keyword: kind for kind in (*FIXED_FORMS, t.Struct, t.Func, t.UserDefined)
} | {"nstruct": t.Struct}

_HOMES = {
    "substrait_dsl.algebra.types": [
        *(kind.__name__ for kind in _CLASSES.values()),
        *("Null", "Nullable", "Precision38", "Req", "Scale38", "SubSecond", "Type"),
    ],
    "substrait_dsl.algebra.expressions.literals": ["Compound", "DaySeconds", "YearMonths"],
    "substrait_dsl.fluent.calls": ["Measure", "WindowFunction"],
    "substrait_dsl.fluent.expr": ["DynExpr", "Expr", "ExprBase"],
    "substrait_dsl.fluent.operators": ["PythonValue"],
    "collections.abc": ["Mapping", "Sequence"],
    "typing": ["Any", "Literal", "TypeAlias", "overload"],
    "typing_extensions": ["TypeVar"],
}
_MODULES = {"dt": "datetime as dt", "decimal": "decimal", "uuid": "uuid"}
_HOME = {name: module for module, names in _HOMES.items() for name in names} | {
    name: "builtins" for name in "bool bytes float int list object str tuple type".split()
}
"""Where each name that a stub uses comes from, modules apart."""

_BOUNDS: Mapping[type[t.Type], tuple[str, ...]] = {
    t.Decimal: ("Precision38", "Scale38"),
    **dict.fromkeys(t.PRECISION_TYPES, ("SubSecond",)),
    **dict.fromkeys(t.LENGTH_TYPES, ("int",)),
}
"""What the integer parameters of a type may be."""

_LATE = frozenset({"i8", "i16", "i32", "fp32", "varchar", "fixedchar", "fixedbinary", "u!"})
"""Types that no Python value has by nature: overloads for them come after those for ``i64``, ``fp64``, ``string``."""


def standard_stub() -> str:
    """The stub of `substrait_dsl.functions`."""
    return _stub(standard_catalog().by_name(), _STANDARD_TEXT, COMMAND, _STANDARD_EXPORTS)


def stub_of(extension: str | os.PathLike[str]) -> str:
    """The stub of the functions of a user's own extension.

    Args:
        extension: the path of its YAML file, or the YAML text.

    Raises `CatalogError` for a file that is no extension, `InvalidArgumentError` for one of the specification's own.
    """
    standard = standard_catalog()
    catalog = standard.with_extension(extension)
    added = [urn for urn in catalog.urns if urn not in standard.urns]
    if not added:
        raise InvalidArgumentError(
            f"{extension} is an extension of the specification", hint="substrait_dsl.functions has its functions, typed"
        )
    functions = {name: list(declared) for name, declared in catalog.extensions[added[0]].functions.items()}
    return _stub(dict(sorted(functions.items())), f"The functions of {added[0]}, typed.", "substrait-dsl stub", "")


def _stub(functions: Mapping[str, Sequence[Function]], text: str, command: str, exports: str) -> str:
    writable = {name: declared for name, declared in functions.items() if name.isidentifier()}
    words = _Words(map(python_name, writable))
    # Where one name has functions of several kinds, a call means the first.
    bodies = [
        _function(name, [each for each in declared if each.kind == declared[0].kind], words)
        for name, declared in writable.items()
    ]
    header = f'"""{text}\n\nGenerated by ``{command}``; do not edit.\n"""\n\n{_SETTINGS}\n'
    aliases = words.aliases()
    body = "\n".join(bodies)
    return f"{header}{words.imports(exports, aliases + body)}\n{aliases}\n{body}"


class _Words:
    """The names that a stub defines beside the functions: type variables, and aliases for the words of arguments."""

    def __init__(self, functions: Iterable[str]) -> None:
        self._taken = frozenset(functions) & (_HOME.keys() | _MODULES.keys())
        self._variables: dict[str, str] = {"_N": "bound=Null, default=Req", "_W": "bound=str"}
        self._words: dict[str, tuple[str, ...]] = {}

    def variable(self, name: str, bound: str) -> str:
        """The name of a type variable."""
        self._variables[name] = f"bound={bound}" if bound else ""
        return name

    def choice(self, name: str, words: tuple[str, ...]) -> str:
        """The name of the alias for a set of words; `name` says what they are for."""
        stem = "_" + "".join(part.capitalize() for part in re.findall(r"[A-Za-z0-9]+", name))
        names = (f"{stem}{number or ''}" for number in range(len(self._words) + 2) if number != 1)
        alias = next(alias for alias in names if {*self._words.get(alias, words)} == {*words})
        self._words.setdefault(alias, words)
        return alias

    def safe(self, annotation: str) -> str:
        """An annotation, with names that functions of this stub have replaced by others."""
        for name in self._taken:
            annotation = re.sub(rf"\b{name}\b", f"_{name}", annotation)
        return annotation

    def aliases(self) -> str:
        """The definitions of the variables and aliases."""
        variables = [
            f'{name} = TypeVar("{name}"{", " * bool(rest)}{self.safe(rest)})\n'
            for name, rest in sorted(self._variables.items())
        ]
        words = [
            _wrapped(f"{name}: TypeAlias = Literal[", [f'"{word}"' for word in words], "]")
            for name, words in sorted(self._words.items())
        ]
        preference = self.safe("_Preference: TypeAlias = _W | Sequence[_W]\n")
        return "".join([*variables, "\n", preference, '"""One value of an option, or several, best first."""\n\n', *words])

    def imports(self, exports: str, text: str) -> str:
        """The imports that a text needs."""
        used = set(re.findall(r"\b[A-Za-z]\w*", text))
        lines = {f"import {_MODULES[name]}\n" for name in _MODULES if name in used - self._taken}
        lines |= {f"import {name} as _{name}\n" for name in self._taken & _MODULES.keys()}
        wanted: dict[str, list[str]] = {}
        for name, module in _HOME.items():
            if name in self._taken:
                wanted.setdefault(module, []).append(f"{name} as _{name}")
            elif name in used and module != "builtins":
                wanted.setdefault(module, []).append(name)
        return _sorted_imports(lines, wanted, exports)


def _sorted_imports(modules: Iterable[str], names: Mapping[str, Sequence[str]], exports: str) -> str:
    """Import lines in the order that linters want: the standard library, others, our own."""
    froms = {
        module: _wrapped(f"from {module} import ", sorted(set(chosen), key=_import_order), "", brackets=True)
        for module, chosen in names.items()
    }
    ours = [(module, text) for module, text in froms.items() if module.startswith("substrait_dsl")]
    ours += [(line.split()[1], line) for line in exports.splitlines(keepends=True)]
    standard = sorted((module, text) for module, text in froms.items() if module in ("builtins", "collections.abc", "typing"))
    others = [text for module, text in froms.items() if module == "typing_extensions"]
    groups = [[*sorted(modules), *(text for _, text in standard)], others, [text for _, text in sorted(ours)]]
    return "\n".join("".join(group) for group in groups if group)


def _import_order(name: str) -> tuple[int, list[tuple[int, str]]]:
    rank = 0 if name.isupper() else 1 if name[0].isupper() else 2  # constants, classes, functions
    return rank, [(int(part or 0), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _wrapped(start: str, items: Sequence[str], end: str, *, brackets: bool = False) -> str:
    """Items on one line; where that is too long, on a line of their own; where that is, on one line each."""
    line = f"{start}{', '.join(items)}{end}\n"
    if len(line) <= WIDTH + 1:
        return line
    left, right = ("(", ")") if brackets else ("", "")
    inside = f"    {', '.join(items)}\n"
    if len(inside) > WIDTH + 1 or brackets:
        inside = "".join(f"    {item}{',' * (not item.startswith('**'))}\n" for item in items)
    return f"{start}{left}\n{inside}{right}{end}\n"


# --- functions


@attrs.frozen
class _Signature:
    """What a stub says of one overload."""

    parameters: tuple[str, ...]
    result: str


def _function(name: str, declared: Sequence[Function], words: _Words) -> str:
    overloads = sorted((each for function in declared for each in function.overloads), key=_lateness)
    signatures: dict[tuple[str, ...], _Signature] = {}
    for overload in overloads:
        signature = _Translation(overload, words).signature()
        signatures.setdefault(signature.parameters, signature)
    if len({signature.result for signature in signatures.values()}) > 1:
        signatures = {each.parameters: each for each in _dynamic(overloads, words)} | signatures
    decorator = "@overload\n" if len(signatures) > 1 else ""
    lines = [
        _wrapped(f"def {python_name(name)}(", each.parameters, f") -> {each.result}: ...")
        for each in signatures.values()
    ]
    lines[-1] = lines[-1].replace(": ...\n", f":\n    {_docstring(declared)}\n")
    return "".join(decorator + line for line in lines)


def _lateness(overload: Overload) -> int:
    patterns = [argument.pattern for argument in overload.arguments if isinstance(argument, ValueArgument)]
    return sum(pattern.keyword in _LATE for pattern in patterns)


def _docstring(declared: Sequence[Function]) -> str:
    texts = [function.description for function in declared]
    texts += [overload.description for function in declared for overload in function.overloads]
    text = " ".join(next(filter(None, texts), "").split())
    sentence = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0].replace('"""', "'''").rstrip('"')
    sentence = textwrap.shorten(sentence, 2 * WIDTH, placeholder=" ...") or f"The {declared[0].kind} function {declared[0].name}"
    sentence = sentence[0].upper() + sentence[1:] + "." * (sentence[-1] not in ".!?")
    raw = "r" if "\\" in sentence else ""
    return f'{raw}"""{sentence}"""'


def _dynamic(overloads: Sequence[Overload], words: _Words) -> Iterator[_Signature]:
    """Overloads for expressions whose types a checker does not know, lest it takes the first that would do.

    The first of the values decides what the others may be; where it is none of these expressions, the second.
    """
    result = _result_class(overloads[0], "Any", "Any") if overloads[0].kind != "scalar" else "DynExpr"
    enums: dict[int, list[str]] = {}
    for overload in overloads:
        for position, argument in enumerate(overload.arguments):
            if isinstance(argument, EnumArgument):
                enums.setdefault(position, []).append(words.choice(argument.name, argument.options))
    first = next(position for position in range(len(enums) + 1) if position not in enums)
    leading = [" | ".join(dict.fromkeys(enums[position])) for position in range(first)]
    options = _options([option for overload in overloads for option in _named(overload)], words)
    for known in range(min(2, max(len(overload.arguments) for overload in overloads) - first)):
        values = [*leading, *["object"] * known, "DynExpr"]
        names = [f"x{number}" if number else "x" for number in range(len(values))]
        parameters = [f"{name}: {words.safe(value)}" for name, value in zip(names, values, strict=True)]
        rest = "*more: " + words.safe("object")
        yield _Signature((*parameters, "/", rest, *options), words.safe(result))


def _named(overload: Overload) -> Iterator[tuple[str, tuple[str, ...]]]:
    for option in overload.options:
        yield option.name, option.values


def _options(options: Sequence[tuple[str, tuple[str, ...]]], words: _Words) -> list[str]:
    """The parameters for function options. Those that are no Python names can only be passed by ``**``."""
    values: dict[str, list[str]] = {}
    for name, allowed in options:
        values.setdefault(name, []).extend(word for word in allowed if word not in values.get(name, ()))
    usual = {name: allowed for name, allowed in values.items() if name.isidentifier() and not keyword.iskeyword(name)}
    parameters = [f"{name}: _Preference[{words.choice(name, tuple(allowed))}] = ..." for name, allowed in usual.items()]
    return parameters if len(usual) == len(values) else [*parameters, words.safe("**options: _Preference[str]")]


def _result_class(overload: Overload, kind: str, nullability: str) -> str:
    match overload.kind:
        case "scalar":
            return f"Expr[{kind}, {nullability}]"
        case "aggregate":
            return f"Measure[{kind}, {nullability}]"
        case "window":
            return "WindowFunction"
        case _:
            assert_never(overload.kind)


class _Translation:
    """One overload in Python's types."""

    def __init__(self, overload: Overload, words: _Words) -> None:
        self._overload = overload
        self._words = words
        self._assigned = {name for name, _ in overload.returns.assignments}
        patterns = [each.pattern for each in overload.arguments if isinstance(each, ValueArgument)]
        self._bare = {pattern.keyword for pattern in (*patterns, overload.returns.result) if _is_any(pattern)}
        self._uses: Counter[str] = Counter()
        self._single: frozenset[str] = frozenset()

    def signature(self) -> _Signature:
        self._attempt()
        # A type variable that stands once says nothing.
        self._single = frozenset(name for name, count in self._uses.items() if count == 1)
        return self._attempt()

    def _attempt(self) -> _Signature:
        self._uses = Counter()
        values = self._parameters()
        mirrored = "_N" if self._uses["_N"] else "Req"
        result = _result_class(self._overload, *self._result(mirrored))
        marker = ["/"] if values and not values[-1].startswith("*") else []
        options = _options(list(_named(self._overload)), self._words)
        keywords = ["*", *options] if options and not options[0].startswith("**") and marker != [] or not values and options else options
        return _Signature((*values, *marker, *keywords), self._words.safe(result))

    def _parameters(self) -> list[str]:
        arguments, variadic = self._overload.arguments, self._overload.variadic
        names = _parameter_names([argument.name for argument in arguments])
        typed = [(name, self._argument(argument)) for name, argument in zip(names, arguments, strict=True)]
        if variadic is None:
            return [f"{name}: {kind}" for name, kind in typed]
        last = typed.pop()[0]
        repeated = [(f"{last}{number or ''}", self._argument(arguments[-1])) for number in range(variadic.minimum)]
        fixed = [f"{name}: {kind}" for name, kind in (*typed, *repeated)]
        return [*fixed, *["/"] * bool(fixed), f"*more: {self._argument(arguments[-1])}"]

    def _argument(self, argument: ValueArgument | EnumArgument | TypeArgument) -> str:
        match argument:
            case EnumArgument():
                return self._words.choice(argument.name, argument.options)
            case TypeArgument():
                return self._words.safe("Type | type[Type]")
            case ValueArgument():
                return self._words.safe(self._value(argument.pattern))
            case _:
                assert_never(argument)

    def _value(self, pattern: TypeNode) -> str:
        mirror = self._overload.nullability == "MIRROR"
        if pattern.keyword == "func" or (_is_any(pattern) and not mirror and self._any(pattern) == "Any"):
            return "ExprBase" if pattern.keyword == "func" else "ExprBase | PythonValue"
        required = self._overload.nullability == "DISCRETE" and not pattern.nullable
        nullability = self._used("_N") if mirror else "Req" if required else "Null"
        python = _python_values(pattern)
        return f"Expr[{self._type(pattern)}, {nullability}]{f' | {python}' if python else ''}"

    def _result(self, mirrored: str) -> tuple[str, str]:
        result = self._overload.returns.result
        if not isinstance(result, TypeNode):
            return "Any", mirrored if self._overload.nullability == "MIRROR" else "Any"
        kind = self._type(result)
        if self._overload.nullability == "MIRROR":
            return kind, mirrored
        if result.nullable:
            return kind, "Null"
        return kind, "Any" if _is_any(result) else "Req"

    def _type(self, node: TypeNode) -> str:
        if node.is_any:
            return self._any(node)
        kind = _CLASSES.get(node.keyword)
        if kind is None or kind is t.Struct:
            return "Struct[Any]" if kind else "Any"
        if not node.parameters or kind in (t.UserDefined, t.Func):
            return kind.__name__
        inside = (self._parameter(kind, number, part) for number, part in enumerate(node.parameters))
        return f"{kind.__name__}[{', '.join(inside)}]"

    def _parameter(self, kind: type[t.Type], number: int, part: Expression) -> str:
        match part:
            case TypeNode(keyword=label) if part.is_any:
                return "Any" if label in self._bare or label == "any" else self._variable(f"_Item{label[3:]}", "")
            case TypeNode():
                return f"Nullable[{self._type(part)}]" if part.nullable else self._type(part)
            case Constant(int() as value):
                return f"Literal[{value}]"
            case Name(text) if text not in self._assigned:
                bound = _BOUNDS[kind][number]
                return self._variable(f"_{text.upper()}{'_digits' if bound == 'SubSecond' else ''}", bound)
            case _:
                return "Any"

    def _any(self, node: TypeNode) -> str:
        return "Any" if node.keyword == "any" else self._variable(f"_T{node.keyword[3:]}", "Type")

    def _variable(self, name: str, bound: str) -> str:
        self._used(name)
        return "Any" if name in self._single else self._words.variable(name, bound)

    def _used(self, name: str) -> str:
        self._uses[name] += 1
        return name


def _is_any(node: Expression) -> Any:
    return isinstance(node, TypeNode) and node.is_any


def _python_values(pattern: TypeNode) -> str:
    """The Python values that become literals of a type, as `WrittenAs` says."""
    if pattern.is_any:
        return "PythonValue"
    kind = _CLASSES.get(pattern.keyword)
    if kind is None or kind is t.UserDefined:
        return ""
    bases = getattr(kind, "__orig_bases__", ())
    marks = (get_args(base)[0] for base in bases if get_origin(base) in (t.WrittenAs, t.Number))
    return next((_python_text(mark) for mark in marks), "")


def _python_text(mark: Any) -> str:
    if isinstance(mark, ForwardRef):
        return mark.__forward_arg__
    text = mark.__name__ if isinstance(mark, type) and mark.__module__ == "builtins" else str(mark)
    if isinstance(mark, type) and mark.__module__ != "builtins":
        text = f"{mark.__module__}.{mark.__name__}"
    return re.sub(r"\b(?:typing|collections\.abc)\.", "", text).replace("datetime.", "dt.", 1)


def _parameter_names(names: Sequence[str]) -> list[str]:
    """The names of the arguments, as far as Python takes them; positions are what counts."""
    chosen: list[str] = []
    for name in names:
        stem = name if name.isidentifier() and not keyword.iskeyword(name) else "value"
        number = sum(each.rstrip("0123456789") == stem for each in chosen)
        chosen.append(f"{stem}{number + 1}" if stem in chosen else stem)
    return chosen


if __name__ == "__main__":
    STANDARD_FILE.write_text(standard_stub(), encoding="utf-8")
