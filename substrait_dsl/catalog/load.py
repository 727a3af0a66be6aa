"""Extension files: YAML in, records out, with every mistake named by file, function and overload.

Every scalar is read as text (YAML's base schema), so that an option value ``NULL`` or ``NO`` stays the word it is.
Free-form ``metadata`` has no meaning to the library and is not read.

Specification: https://substrait.io/extensions/ and ``simple_extensions_schema.yaml``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import get_args

from substrait_dsl.algebra.type_syntax import KEYWORDS, Call, Expression, Name, Program, TypeNode, parts_of
from substrait_dsl.algebra.types import TypeVariation
from substrait_dsl.catalog.derive import FUNCTIONS
from substrait_dsl.catalog.entries import Entry, TypeTexts, read_yaml
from substrait_dsl.catalog.records import (
    KINDS,
    Argument,
    Decomposable,
    Deprecation,
    EnumArgument,
    Extension,
    Function,
    Kind,
    Nullability,
    Option,
    Overload,
    ParameterKind,
    TypeArgument,
    TypeDeclaration,
    TypeParameterDeclaration,
    ValueArgument,
    Variadic,
    VariationDeclaration,
    WindowType,
)
from substrait_dsl.errors import CatalogError, quote, suggestion

FUNCTION_SECTIONS: Mapping[str, Kind] = {f"{kind}_functions": kind for kind in KINDS}
"""The keys of a file that list functions."""

_HEADER_KEYS = ("urn", "description", "dependencies", "metadata", "types", "type_variations")
_FUNCTION_KEYS = ("name", "description", "deprecated", "metadata", "impls")
_SCALAR_KEYS = (
    "args", "options", "variadic", "sessionDependent", "deterministic", "nullability", "return", "implementation",
    "description", "deprecated",
)  # fmt: skip
_AGGREGATE_KEYS = (*_SCALAR_KEYS, "intermediate", "ordered", "maxset", "decomposable")
_OVERLOAD_KEYS: Mapping[Kind, tuple[str, ...]] = {
    "scalar": _SCALAR_KEYS,
    "aggregate": _AGGREGATE_KEYS,
    "window": (*_AGGREGATE_KEYS, "window_type"),
}


def read_extension(text: str, source: str, known: Mapping[str, Extension]) -> Extension:
    """Read a whole extension file.

    Args:
        text: The YAML text.
        source: What to call it in messages: a file name.
        known: The extensions it may depend on, by URN.

    Raises:
        CatalogError: For whatever breaks the rules of extension files, naming the place.
    """
    file = Entry.of(read_yaml(text, source), source)
    extension, texts = read_header(file, source, known)
    functions: dict[str, list[Function]] = {}
    for section, kind in FUNCTION_SECTIONS.items():
        for entry in file.entries(section):
            function = read_function(kind, entry, source, extension.urn, texts)
            functions.setdefault(function.name, []).append(function)
    _check_keys(functions, source)
    return Extension(
        urn=extension.urn,
        functions={name: tuple(overloaded) for name, overloaded in functions.items()},
        types=extension.types,
        variations=extension.variations,
        dependencies=extension.dependencies,
        description=extension.description,
    )


def read_header(file: Entry, source: str, known: Mapping[str, Extension]) -> tuple[Extension, TypeTexts]:
    """Read all of a file but its functions; also what reads the types that its functions mention.

    Raises:
        CatalogError: As `read_extension`.
    """
    file.require_only(*_HEADER_KEYS, *FUNCTION_SECTIONS)
    urn = file.require_text("urn")
    dependencies = file.mapping("dependencies")
    texts = TypeTexts(_declared_names(file, urn, source, known))
    types = {name: _type_declaration(entry, urn, texts) for name, entry in _index_entries(file, "types").items()}
    variations = {
        name: _variation_declaration(entry, urn) for name, entry in _index_entries(file, "type_variations").items()
    }
    extension = Extension(urn, {}, types, variations, dependencies, file.text("description"))
    texts.check_types_of({**known, urn: extension})
    for declared in types.values():
        if declared.structure is not None:  # it may be made of types that come after it
            texts.require_declared(declared.structure, f"{source}: type {declared.name}")
    return extension, texts


def read_function(kind: Kind, entry: Entry, source: str, urn: str, texts: TypeTexts) -> Function:
    """Read one entry of a function section.

    Raises:
        CatalogError: As `read_extension`.
    """
    name = entry.require_text("name")
    entry = entry.with_location(f"{source}: {kind} function {name}")
    if ":" in name:  # in plans a function is called by its signature
        raise CatalogError(
            f"{entry.where}: a name has no colon, which stands between it and the arguments in a signature",
            hint=f'write "{name.replace(":", "_")}"',
        )
    entry.require_only(*_FUNCTION_KEYS)
    overloads = tuple(
        _overload(kind, urn, name, implementation.with_location(f"{entry.where}, overload {number}"), texts)
        for number, implementation in enumerate(entry.entries("impls"), 1)
    )
    if not overloads:
        raise CatalogError(f"{entry.where} has no overloads; expected at least one under impls")
    return Function(kind, urn, name, overloads, entry.text("description"), _deprecation(entry))


def _overload(kind: Kind, urn: str, name: str, entry: Entry, texts: TypeTexts) -> Overload:
    entry.require_only(*_OVERLOAD_KEYS[kind])
    intermediate = entry.text("intermediate")
    overload = Overload(
        kind=kind,
        urn=urn,
        name=name,
        arguments=tuple(_argument(argument, texts) for argument in entry.entries("args")),
        returns=texts.program(entry.require_text("return"), entry.where),
        nullability=entry.choice("nullability", get_args(Nullability), "MIRROR"),
        variadic=_variadic(entry),
        options=tuple(_options(entry)),
        deterministic=entry.flag("deterministic", default=True),
        session_dependent=entry.flag("sessionDependent"),
        description=entry.text("description"),
        deprecated=_deprecation(entry),
        intermediate=texts.program(intermediate, entry.where) if intermediate else None,
        decomposable=entry.choice("decomposable", get_args(Decomposable), "NONE"),
        ordered=entry.flag("ordered"),
        max_set=entry.integer("maxset"),
        window_type=entry.choice("window_type", get_args(WindowType), "PARTITION"),
        implementation=tuple(entry.mapping("implementation").items()),
    )
    _check_programs(overload, entry.where)
    return overload


def _argument(entry: Entry, texts: TypeTexts) -> Argument:
    name, description = entry.text("name"), entry.text("description")
    entry = entry.with_location(f"{entry.where}, argument {name or '?'}")
    if "value" in entry.values:
        entry.require_only("name", "description", "value", "constant")
        return ValueArgument(
            texts.pattern(entry.require_text("value"), entry.where), name, description, entry.flag("constant")
        )
    if "options" in entry.values:
        entry.require_only("name", "description", "options")
        return EnumArgument(entry.words("options"), name, description)
    if "type" in entry.values:
        entry.require_only("name", "description", "type")
        return TypeArgument(texts.pattern(entry.require_text("type"), entry.where), name, description)
    raise CatalogError(f"{entry.where}: expected one of {quote(('value', 'options', 'type'))}")


def _variadic(entry: Entry) -> Variadic | None:
    if "variadic" not in entry.values:
        return None
    variadic = entry.entry("variadic")
    variadic.require_only("min", "max", "parameterConsistency")
    if not entry.entries("args"):
        raise CatalogError(f"{entry.where} is variadic but has no argument to repeat")
    # spec decision 40
    consistency = variadic.choice("parameterConsistency", ("CONSISTENT", "INCONSISTENT"), "CONSISTENT")
    least, most = variadic.integer("min") or 0, variadic.integer("max")
    if least < 0 or (most is not None and most < least):
        raise CatalogError(f"{variadic.where}: expected 0 <= min <= max, got min {least} and max {most}")
    return Variadic(least, most, consistency == "CONSISTENT")


def _options(entry: Entry) -> Iterator[Option]:
    options = entry.entry("options")
    for name in options.values:
        option = options.entry(name).with_location(f"{entry.where}, option {name}")
        option.require_only("description", "values")
        yield Option(name, option.words("values"), option.text("description"))


def _deprecation(entry: Entry) -> Deprecation | None:
    if "deprecated" not in entry.values:
        return None
    deprecated = entry.entry("deprecated")
    deprecated.require_only("since", "reason", "metadata")
    return Deprecation(deprecated.require_text("since"), deprecated.text("reason"))


def _declared_names(file: Entry, urn: str, source: str, known: Mapping[str, Extension]) -> dict[str, str]:
    """Return the URN behind every name that the file's types may use.

    Its own, and those of its dependencies by alias.
    """
    names = {name: urn for section in ("types", "type_variations") for name in _index_entries(file, section)}
    for alias, dependency in file.mapping("dependencies").items():
        if dependency not in known:
            raise CatalogError(
                f'{source} depends on "{dependency}" (as "{alias}"), which is not in the catalogue; add it first',
                hint=suggestion(dependency, known),
            )
        declared = known[dependency]
        names.update((f"{alias}.{name}", dependency) for name in (*declared.types, *declared.variations))
    return names


def _index_entries(file: Entry, section: str) -> dict[str, Entry]:
    """Return the entries of a section, which must differ in their names."""
    found: dict[str, Entry] = {}
    for entry in file.entries(section):
        name = entry.require_text("name")
        if name in found:
            what = section.removesuffix("s").replace("_", " ")
            said = f'{entry.where}: the file has another {what} "{name}"'
            raise CatalogError(said, hint="rename or remove one of them")
        found[name] = entry
    return found


def _type_declaration(entry: Entry, urn: str, texts: TypeTexts) -> TypeDeclaration:
    name = entry.require_text("name")
    entry = entry.with_location(f"{entry.where}, type {name}")
    entry.require_only("name", "deprecated", "description", "metadata", "structure", "parameters", "variadic")
    structure: TypeNode | None = None
    if isinstance(entry.values.get("structure"), Mapping):  # the short way to write a struct with field names
        structure = texts.struct_pattern(entry.mapping("structure"), f"{entry.where}, structure")
    elif text := entry.text("structure"):
        structure = texts.pattern(text, entry.where)
    return TypeDeclaration(
        urn=urn,
        name=name,
        structure=structure,
        parameters=tuple(_type_parameter(parameter) for parameter in entry.entries("parameters")),
        variadic=entry.flag("variadic"),
        description=entry.text("description"),
        deprecated=_deprecation(entry),
    )


def _type_parameter(entry: Entry) -> TypeParameterDeclaration:
    entry.require_only("name", "description", "type", "min", "max", "options", "optional")
    return TypeParameterDeclaration(
        kind=entry.choice("type", get_args(ParameterKind)),
        name=entry.text("name"),
        description=entry.text("description"),
        minimum=entry.integer("min"),
        maximum=entry.integer("max"),
        options=entry.words("options") if "options" in entry.values else (),
        optional=entry.flag("optional"),
    )


def _variation_declaration(entry: Entry, urn: str) -> VariationDeclaration:
    entry.require_only("parent", "name", "deprecated", "description", "functions")
    parent = entry.require_text("parent")
    if "u!" not in parent and parent.lower() not in KEYWORDS:
        raise CatalogError(f'{entry.where}: unknown parent type "{parent}"', hint=suggestion(parent, KEYWORDS))
    return VariationDeclaration(
        variation=TypeVariation(urn, entry.require_text("name")),
        parent=parent,
        separate=entry.choice("functions", ("INHERITS", "SEPARATE"), "INHERITS") == "SEPARATE",
        description=entry.text("description"),
        deprecated=_deprecation(entry),
    )


def _check_keys(functions: Mapping[str, list[Function]], source: str) -> None:
    """Refuse two overloads with one signature: a plan could not tell them apart."""
    for same_name in functions.values():
        seen: set[str] = set()
        for overload in (overload for function in same_name for overload in function.overloads):
            if overload.key in seen:
                raise CatalogError(f"{source} has two overloads with the signature {overload.key}")
            seen.add(overload.key)


def _check_programs(overload: Overload, where: str) -> None:
    """Refuse a return type that reads names which no argument binds, or calls what does not exist."""
    patterns = [argument.pattern for argument in overload.arguments if not isinstance(argument, EnumArgument)]
    bound = {name for pattern in patterns for name in _names_in(pattern)} - {"any"}
    for program in (overload.returns, overload.intermediate):
        if program is not None:
            _check_program(program, bound, overload, where)


def _check_program(program: Program, bound: Collection[str], overload: Overload, where: str) -> None:
    known = set(bound)
    for name, expression in (*program.assignments, ("", program.result)):
        for read in _names_in(expression):
            if read not in known:
                raise CatalogError(f"{where}: the return type reads {read}, which no argument binds")
        for call in _calls_in(expression):
            _check_call(call, overload, where)
        known.add(name)


def _check_call(call: Call, overload: Overload, where: str) -> None:
    if call.function == "integer_parameter":
        names = {argument.name for argument in overload.arguments if isinstance(argument, ValueArgument)}
        if not (len(call.arguments) == 1 and isinstance(call.arguments[0], Name) and call.arguments[0].text in names):
            raise CatalogError(f"{where}: {call} must name one of the value arguments {quote(sorted(names))}")
    elif call.function not in FUNCTIONS:
        raise CatalogError(
            f"{where}: the return type calls {call.function}; expected one of {quote(FUNCTIONS)}",
            hint=suggestion(call.function, FUNCTIONS),
        )


def _names_in(expression: Expression) -> Iterator[str]:
    match expression:
        case Name(text):
            yield text
        case TypeNode(keyword, is_any=True):
            yield keyword
        case Call("integer_parameter"):
            return  # it names an argument, not a parameter of a type
        case _:
            for part in parts_of(expression):
                yield from _names_in(part)


def _calls_in(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
    for part in parts_of(expression):
        yield from _calls_in(part)
