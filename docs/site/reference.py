"""The pages of the reference that are made: of the public names, the functions of the catalogue, and the errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from substrait_dsl import errors, everyday, partiql
from substrait_dsl.catalog.records import Extension, Function, Overload
from substrait_dsl.catalog.standard import standard_extensions
from substrait_dsl.engines.profile import Profile, shipped_profiles
from substrait_dsl.fluent.function_examples import EXAMPLES
from substrait_dsl.fluent.namespace import python_name

NAMES: Mapping[str, tuple[str, Mapping[str, Sequence[str]]]] = {
    "relations": (
        "Relations",
        {
            "substrait_dsl": (
                "Relation", "GroupBy", "shared", "subtree", "Subtree", "lambda_", "LambdaFunction",
                "extension_leaf", "extension_multi",
            ),
        },
    ),
    "tables": (
        "Reading and changing tables",
        {
            "substrait_dsl": (
                "read_named", "read_files", "read_csv", "read_json", "read_iceberg", "read_virtual", "read_extension",
                "from_arrow", "from_sql", "FileSlice", "Parquet", "Orc", "Arrow", "DelimitedText", "Dwrf",
                "ExtensionFormat", "update", "create_table", "alter_table", "drop_table", "create_view", "alter_view",
                "drop_view", "files_target", "virtual_target", "extension_object", "CreateMode", "OutputMode",
                "WriteOp",
            ),
        },
    ),
    "expressions": (
        "Expressions",
        {
            "substrait_dsl": (
                "Expr", "DynExpr", "col", "lit", "null", "when", "switch", "struct_of", "list_of", "map_of", "elements",
                "parameter", "current_date", "current_timestamp", "current_timezone", "Measure", "WindowFunction",
                "scalar_subquery", "exists", "unique", "any_of", "all_of", "record", "Compound", "DaySeconds",
                "YearMonths",
            ),
        },
    ),
    "arguments": (
        "Arguments of verbs",
        {
            "substrait_dsl": (
                "asc", "desc", "clustered", "compared", "SortKey", "preceding", "following", "join_key", "JoinKey",
                "switching", "Switching", "round_robin", "broadcast", "scatter", "single_bucket", "multi_bucket",
                "exchange_target", "ExchangeKind", "JoinType", "LateralJoinType", "SetOp", "AggregateMethod",
                "WindowMethod", "Computation",
            ),
        },
    ),
    "schemas": (
        "Schemas and types",
        {
            "substrait_dsl": (
                "Schema", "SchemaLike", "RelationSchema", "Field", "Row", "DynRow", "F", "schema_of",
                "reveal_schema", "parse_type", "Properties", "OrderKey", "Distribution", "Type", "Nullable", "Req",
                "Null", "Boolean", "I8", "I16", "I32", "I64", "FP32", "FP64", "Decimal", "String", "Binary",
                "FixedChar", "VarChar", "FixedBinary", "Date", "PrecisionTime", "PrecisionTimestamp",
                "PrecisionTimestampTZ", "IntervalYear", "IntervalDay", "IntervalCompound", "UUID", "Struct", "List",
                "Map", "Func", "UserDefined", "TypeVariation", "Unbound",
            ),
        },
    ),
    "plans": (
        "Plans and what is said of them",
        {
            "substrait_dsl": (
                "Plan", "ExtendedExpression", "Finding", "FindingCode", "Access", "Accesses", "Requirement", "diff",
                "PlanDiff", "StepChange", "ColumnChange", "DeclarationChange", "Lineage", "ColumnLineage",
                "ColumnOrigin", "SourceColumn", "Encoding", "OuterReferences", "AnyMessage", "AdvancedExtension",
            ),
        },
    ),
    "engines": (
        "Engines and extensions",
        {
            "substrait_dsl": (
                "check_all", "Report", "CheckFinding", "CheckMatrix", "Capabilities", "FunctionCapability",
                "read_capabilities", "AceroSession", "register_acero_functions", "Functions", "Catalog",
                "standard_catalog", "implement",
            ),
            "substrait_dsl.spark.session": ("local_session", "drop_views"),
        },
    ),
    "testing": ("Testing", {"substrait_dsl.testing": ("assert_same_rows", "assert_schema", "assert_contract")}),
}  # fmt: skip
"""The pages of public names, by their file: the title, and the names of each module that it is imported from."""

ELSEWHERE = {
    "functions": "reference/functions.md",
    "everyday": "reference/everyday.md",
    "errors": "reference/errors.md",
    "SubstraitDslError": "reference/errors.md",
    "L": "reference/schemas.md",
}
"""Public names that no page describes by their docstrings, and the pages on which they stand."""

LITERAL = """## `sd.L`

`typing.Literal`, for the numbers in annotations of schemas: `sd.Decimal[L[15], L[2]]`.
"""

ERROR_CLASSES: tuple[type[errors.SubstraitDslError], ...] = tuple(
    each
    for each in vars(errors).values()
    if inspect.isclass(each) and issubclass(each, errors.SubstraitDslError) and each.__module__ == errors.__name__
)


OWN_FIELDS = ("    options:", "      inherited_members: false", "      filters: ['!^_', '!^of_']")
"""Of a class of errors its own fields are described, and not how one is made."""


def write_pages() -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of the pages of the reference."""
    for file, (title, modules) in NAMES.items():
        yield f"reference/{file}.md", write_names_page(title, modules)
    yield "reference/everyday.md", write_module_page("Everyday functions", "everyday", everyday)
    yield "reference/partiql.md", write_module_page("PartiQL's algebra", "pq", partiql)
    yield "reference/errors.md", write_errors_page()
    extensions = standard_extensions()
    yield "reference/functions.md", write_functions_index(extensions)
    examples = dict(EXAMPLES)  # each stands once, with the extension that is asked first
    for extension in extensions:
        yield extension_path(extension), write_extension_page(extension, examples)


def write_names_page(title: str, modules: Mapping[str, Sequence[str]]) -> str:
    """Return a page that describes public names by their docstrings."""
    lines = [f"# {title}", ""]
    for module, names in modules.items():
        prefix = "sd" if module == "substrait_dsl" else module
        place = "substrait_dsl.api" if module == "substrait_dsl" else module
        for name in names:
            lines += [f"## `{prefix}.{name}`", "", f"::: {place}.{name}", ""]
    if title == NAMES["schemas"][0]:
        lines.append(LITERAL)
    return "\n".join(lines)


def write_module_page(title: str, prefix: str, module: ModuleType) -> str:
    """Return the page of the public names of a module."""
    introduction = inspect.cleandoc(module.__doc__ or "")
    lines = [f"# {title}", "", introduction, ""]
    for name in module.__all__:
        lines += [f"## `{prefix}.{name}`", "", f"::: {module.__name__}.{name}", ""]
    return "\n".join(lines)


def write_errors_page() -> str:
    """Return the page of the classes of errors, with their codes."""
    lines = [
        "# Errors",
        "",
        "Every error of the library is a `SubstraitDslError`, and the Python builtins that its row names. `error.code`",
        "is for programs. `sd.errors` has the classes.",
        "",
        "| code | class | is also | means |",
        "|---|---|---|---|",
    ]
    for each in ERROR_CLASSES:
        builtin = ", ".join(f"`{base.__name__}`" for base in each.__bases__ if base is not errors.SubstraitDslError)
        means = (each.__doc__ or "").splitlines()[0]
        lines.append(f"| `{each.code}` | [`{each.__name__}`](#{each.__name__.lower()}) | {builtin} | {means} |")
    for each in ERROR_CLASSES:
        lines += ["", f"## {each.__name__}", "", f"::: substrait_dsl.errors.{each.__name__}", *OWN_FIELDS]
    return "\n".join([*lines, ""])


# --- functions


def extension_path(extension: Extension) -> str:
    """Return the path of the page of an extension."""
    return f"reference/functions/{short_name(extension)}.md"


def short_name(extension: Extension) -> str:
    """Return the last part of a URN, without the word that most begin with."""
    return extension.urn.rpartition(":")[2].removeprefix("functions_")


def functions_of(extension: Extension) -> Iterator[Function]:
    """Yield the functions of an extension: those of a name, then of the next one."""
    for name in sorted(extension.functions):
        yield from extension.functions[name]


def write_functions_index(extensions: Iterable[Extension]) -> str:
    """Return the page that lists all functions by name."""
    lines = [
        "# Functions",
        "",
        "All functions of the specification's extensions are in `substrait_dsl.functions`, by name; which extension",
        "and overload a call means follows from its arguments. A page for each extension has the signatures.",
        "",
        "| extension | functions |",
        "|---|---|",
    ]
    for extension in extensions:
        page = extension_path(extension).removeprefix("reference/")
        names = ", ".join(f"[`{name}`]({page}#{name})" for name in sorted(extension.functions))
        lines.append(f"| [{short_name(extension)}]({page}) | {names} |")
    return "\n".join([*lines, ""])


def write_extension_page(extension: Extension, examples: dict[str, str]) -> str:
    """Return the page of an extension: its functions, their signatures, options, descriptions and examples.

    The examples that are shown are taken out of the dict.
    """
    lines = [
        f"# {short_name(extension).replace('_', ' ').capitalize()}",
        "",
        f"`{extension.urn}`, as its file declares it. A type variable such as `any1` or `P` stands for any one type or",
        "number, `?` for a value that may be NULL; where the nullability of a result is not declared, it is nullable",
        "if an argument is. *Engines* are those that have the function, by their [profiles](../../engines.md), under",
        "its own name or written another way. [Spark](../../spark/functions.md) and [Sail](../../spark/sail.md) run",
        "all but what their pages name.",
        "",
        *([escape(one_line(extension.description)), ""] if extension.description else []),
    ]
    for function in functions_of(extension):
        lines += write_function(function, examples.pop(function.name, None))
    return "\n".join([*lines, ""])


def write_function(function: Function, example: str | None) -> Iterator[str]:
    """Yield the lines of a function."""
    yield f"## {function.name}"
    yield ""
    kind = {"scalar": "Scalar function", "aggregate": "Aggregate function", "window": "Window function"}[function.kind]
    engines = ", ".join(engines_of(function)) or "none of those with a profile"
    yield f"{kind}, `f.{python_name(function.name)}`. Engines: {engines}."
    if function.deprecated is not None:
        yield f"Deprecated since {function.deprecated.since}: {escape(one_line(function.deprecated.reason))}"
    yield ""
    yield "```text"
    yield from map(str, function.overloads)
    yield "```"
    yield ""
    descriptions = dict.fromkeys([function.description, *(each.description for each in function.overloads)])
    for description in filter(None, descriptions):
        yield escape(one_line(description))
        yield ""
    for name, values in options_of(function.overloads).items():
        yield f"- option `{name}`: {', '.join(f'`{value}`' for value in values)}"
    yield ""
    if example is not None:
        yield from ("```python", *example.splitlines(), "```", "")


def options_of(overloads: Iterable[Overload]) -> dict[str, dict[str, None]]:
    """Return the options of some overloads, and the values of each."""
    options: dict[str, dict[str, None]] = {}
    for overload in overloads:
        for option in overload.options:
            options.setdefault(option.name, {}).update(dict.fromkeys(option.values))
    return options


def engines_of(function: Function) -> list[str]:
    """Return the engines whose profiles have a function, or write it another way."""
    profiles = {profile.name: profile for profile in shipped_profiles().values()}
    return [str(profile) for profile in profiles.values() if has_function(profile, function)]


def has_function(profile: Profile, function: Function) -> bool:
    """Return whether a profile has a function, or writes it another way."""
    if function.kind == "scalar" and function.name in profile.function_rules:
        return True
    declared = ((urn, key.partition(":")[0], kind.partition(" ")[0]) for kind, urn, key in profile.functions)
    return (function.urn, function.name, function.kind) in declared


def one_line(text: str) -> str:
    """Return a description without its line breaks, but for those of paragraphs."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def escape(text: str) -> str:
    """Return a text of an extension file, in which nothing is markup."""
    marks = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|"})
    return text.translate(marks)
