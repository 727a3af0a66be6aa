"""The layers: a module imports its own layer and lower ones; heavy libraries are imported only in their places."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Literal, get_origin

import pytest

from substrait_dsl import api
from substrait_dsl.algebra import expressions, relations

ROOT = Path(__file__).parent.parent / "substrait_dsl"

LAYERS: dict[str, int] = {  # by the longest prefix of the module's name
    "errors": 0,
    "texts": 0,
    "markup": 0,
    "signature_errors": 0,
    "tracebacks": 0,
    "installation": 0,
    "algebra": 1,
    "catalog": 2,
    "layouts": 2,
    "array_functions": 2,
    "proto": 3,
    "spark": 3,
    "render": 3,
    "arrow": 3,
    "engines": 3,
    "sql_output": 3,
    "analysis": 3,
    "hints": 4,
    "fluent": 4,
    "functions": 4,
    "everyday": 4,
    "consumers": 5,
    "partiql": 5,
    "sql_queries": 5,
    "api": 6,
    "mypy_plugin": 6,
    "demo": 6,
    "testing": 6,
    "pytest_plugin": 6,
    "schema_modules": 6,
    "project_modules": 6,
    "contracts": 6,
    "cli": 6,
    "__main__": 6,
    "": 6,  # the package itself
}
LEAVES = ("proto", "spark", "render", "arrow", "engines", "sql_output", "analysis")
"""The places of layer 3: none of them imports another."""

ROOMS: dict[str, int] = {  # by the longest prefix, too
    "algebra": 0,  # types, schemas and rules
    "algebra.settings": 1,
    "algebra.properties": 1,
    "algebra.node": 1,
    "algebra.expressions": 1,
    "algebra.relations": 2,
    "algebra.trees": 2,
    "algebra.evaluation": 2,
    "algebra.accesses": 2,
    "algebra.joined_groups": 2,
    "algebra.row_counts": 2,
    "algebra.null_filters": 2,
    "algebra.live_ranges": 2,
    "algebra.plan": 2,
    "algebra.stability": 2,
    "algebra.extended": 2,
    "algebra.anchors": 2,
    "spark.session": 0,
    "spark.guards": 1,
    "spark.catalog": 1,
    "spark.expressions": 2,
    "spark.relations": 3,
    "spark.sources": 4,
    "spark.lowering": 5,
    "spark.diagnostics": 6,
    "spark.changes": 7,
    "spark.sail": 7,
    "spark": 8,  # what runs a whole plan
}
"""The order of what `algebra` and `spark` are made of."""

HEAVY: dict[str, tuple[str, ...]] = {
    "google": ("proto",),
    "substrait": ("proto",),
    "pyspark": ("spark",),
    "py4j": ("spark",),
    "pyarrow": ("array_functions", "arrow", "consumers", "layouts", "spark"),  # pyspark takes and gives Arrow tables
    "pandas": ("array_functions", "arrow"),
    "polars": ("arrow",),
    "datafusion": ("consumers", "sql_queries"),
    "duckdb": ("consumers",),
    "sqlglot": ("sql_output", "sql_queries"),
    "yaml": ("catalog",),
    "click": ("cli",),
    "mypy": ("mypy_plugin",),
    "pytest": ("pytest_plugin",),
}
"""Libraries that take long to load or may be absent, and the only places that import them."""

ONLY_FOR_ANNOTATIONS = {
    # A column's type is the descriptor of a schema class: reading it gives a typed expression.
    *((f"algebra.types.{module}", "fluent.expr") for module in ("base", "scalars", "sized", "nested")),
    ("algebra.types.scalars", "algebra.expressions.intervals"),
    ("algebra.types.sized", "algebra.expressions.intervals"),
    # What an execution shares, and what an engine is given, hold values of rooms above, and only hand them on.
    ("spark.session.engines", "spark.expressions.templates"),
    ("spark.session.execution_context", "spark.catalog.text_records"),
    ("spark.session.execution_context", "spark.sources.arrow_tables"),
    # The signatures of `to_arrow`, `to_spark`, `execute` and `to_proto` name what they return.
    ("fluent.relation_schema", "pyarrow"),
    ("pytest_plugin", "pyspark.sql"),
    ("testing", "pyarrow"),
    ("fluent.relation_schema", "pyspark.sql.types"),
    ("fluent.run_verbs", "pyspark.sql"),
    ("fluent.table_arguments", "pyarrow"),
    ("fluent.plan", "pyspark.sql"),
    ("fluent.running", "pyspark.sql"),
    ("fluent.running", "pyarrow"),
    ("fluent.execution", "pyarrow"),
    ("fluent.execution", "pyspark.sql"),
    ("fluent.execution", "consumers.acero"),
    ("fluent.execution", "datafusion"),
    ("fluent.execution", "duckdb"),
    ("fluent.run_verbs", "pyarrow"),
    ("fluent.base", "partiql.value_builder"),
    ("fluent.run_verbs", "pandas"),
    ("fluent.run_verbs", "polars"),
    ("partiql.builder", "pyspark.sql"),
    ("partiql.value_builder", "pyspark.sql"),
    ("fluent.plan", "substrait.plan_pb2"),
    ("fluent.checks", "substrait.plan_pb2"),
    ("fluent.documents", "substrait.plan_pb2"),
    ("fluent.text_form", "substrait.plan_pb2"),
    ("fluent.documents", "substrait.extended_expression_pb2"),
    ("fluent.extended", "substrait.extended_expression_pb2"),
    ("fluent.relation_schema", "substrait.type_pb2"),
}
"""Imports under ``if TYPE_CHECKING:`` that would break a rule if they ran."""

ONLY_WHEN_CALLED = {
    ("fluent.base", "partiql.tables"),  # `Relation.as_value` opens a table for PartiQL
    ("fluent.execution", "consumers.consumer"),  # `execute` takes a session of any engine
    ("fluent.execution", "consumers.execution"),
    ("fluent.running", "consumers.text"),  # and `show` prints what comes of it
    ("fluent.checks", "consumers.acero"),  # plans for Acero may call what the library registers there
}
"""Imports in functions that point up: a method of what users hold hands over to what is built on it."""


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


When = Literal["loaded", "called", "checked"]
"""Whether an import runs with its module, in a function, or only a type checker sees it."""


@cache
def imports(path: Path) -> tuple[tuple[str, When], ...]:
    """What a file imports, and when."""

    def visit(node: ast.AST, when: When) -> Iterator[tuple[str, When]]:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, when) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                assert level == 0, f"{path}: relative imports are not used"
                assert module is not None
                # `from package import name` may import a module of that name
                yield from ((_home(module, alias.name), when) for alias in names)
            case ast.If(
                test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"), body=body, orelse=orelse
            ):
                yield from (found for child in body for found in visit(child, "checked"))
                yield from (found for child in orelse for found in visit(child, when))
            case _:
                inside: When = "called" if isinstance(node, ast.FunctionDef) else when
                yield from (found for child in ast.iter_child_nodes(node) for found in visit(child, inside))

    return tuple(visit(ast.parse(path.read_text(encoding="utf-8")), "loaded"))


def _home(module: str, name: str) -> str:
    inside = f"{module}.{name}".removeprefix("substrait_dsl.")
    return f"{module}.{name}" if module.startswith("substrait_dsl") and inside in MODULES else module


def layer(module: str, table: Mapping[str, int] = LAYERS) -> int:
    parts = module.split(".")
    for size in range(len(parts), 0, -1):
        found = table.get(".".join(parts[:size]))
        if found is not None:
            return found
    raise AssertionError(f"{module} stands in no layer: add it to the table")


def place(module: str) -> str:
    return module.partition(".")[0]


def broken_rule(importer: str, imported: str) -> str | None:
    """The rule that an import breaks, if any."""
    if imported.partition(".")[0] != "substrait_dsl":
        allowed = HEAVY.get(imported.partition(".")[0])
        return None if allowed is None or place(importer) in allowed else f"only {', '.join(allowed)} may import it"
    target = imported.removeprefix("substrait_dsl").removeprefix(".")
    if target == "":
        return None if layer(importer) == layer("") else "only the top layer imports the package itself"
    if layer(target) > layer(importer):
        return f"layer {layer(importer)} imports layer {layer(target)}"
    if place(importer) in LEAVES and place(target) in LEAVES and place(importer) != place(target):
        return "leaves do not know each other"
    if (
        place(importer) == place(target)
        and place(target) in ("algebra", "spark")
        and layer(target, ROOMS) > layer(importer, ROOMS)
    ):
        return f"room {layer(importer, ROOMS)} imports room {layer(target, ROOMS)}"
    return None


def exemptions(when: When) -> set[tuple[str, str]]:
    """The imports that may break a rule, as they run then."""
    return {"loaded": set(), "called": ONLY_WHEN_CALLED, "checked": ONLY_FOR_ANNOTATIONS}[when]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module or "__init__")
def test_imports_go_down_only(module: str) -> None:
    broken = [
        f"{imported}: {rule}"
        for imported, when in imports(MODULES[module])
        if (rule := broken_rule(module, imported))
        and (module, imported.removeprefix("substrait_dsl.")) not in exemptions(when)
    ]
    assert broken == []


@pytest.mark.parametrize("when", ["called", "checked"])
def test_every_exemption_is_needed(when: When) -> None:
    used = {
        (module, imported.removeprefix("substrait_dsl."))
        for module, path in MODULES.items()
        for imported, found in imports(path)
        if found == when and broken_rule(module, imported)
    }
    assert used == exemptions(when)


def test_the_rules_catch_what_they_forbid() -> None:
    """One import of each forbidden kind, lest a mistake in this file let everything through."""
    for importer, imported in [
        ("algebra.rules", "substrait_dsl.algebra.relations"),
        ("catalog.load", "substrait_dsl.spark.expressions.types"),
        ("fluent.relation", "substrait_dsl.partiql.tables"),
        ("render.text", "substrait_dsl.fluent.relation"),
        ("spark.expressions.types", "substrait_dsl.proto.types"),
        ("spark.expressions.types", "substrait_dsl.spark.relations.joins"),
        ("fluent.expr", "substrait_dsl"),
        ("fluent.expr", "pyspark.sql"),
        ("arrow", "pyspark"),
        ("spark.expressions.types", "google.protobuf"),
        ("engines.lowering.plan", "substrait_dsl.proto.plan"),
        ("algebra.types", "yaml"),
    ]:
        assert broken_rule(importer, imported), (importer, imported)


def rows_of(heading: str) -> list[str]:
    """The rows of the table in the page on the design that begins with a heading."""
    _, _, rest = (ROOT.parent / "docs" / "design.md").read_text(encoding="utf-8").partition(f"\n{heading}")
    return list(takewhile(lambda line: line.startswith("|"), rest.splitlines()[2:]))


def test_the_page_on_the_design_has_the_layers() -> None:
    found = [re.findall(r"`(\w+)`", row.split("|")[2]) for row in rows_of("| layer | modules")]
    expected = [{name or "__init__" for name, number in LAYERS.items() if number == layer} for layer in range(7)]
    assert [set(names) for names in found] == expected


def test_the_page_on_the_design_has_the_rooms() -> None:
    """From the lowest to the highest; the modules of the last row are those that stand in no room."""
    found = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in rows_of("| room | what")]
    rooms = {name.removeprefix("spark."): floor for name, floor in ROOMS.items() if name.startswith("spark.")}
    assert [name for names in found[:-1] for name in names] == sorted(rooms, key=rooms.__getitem__)
    alone = {path.stem for path in (ROOT / "spark").glob("*.py")} - {"__init__", *rooms}
    assert set(found[-1]) == alone


TOP_LEVEL = {
    "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md",
    "constraints.txt", "noxfile.py",
    "substrait_dsl", "stubs", "tests", "examples", "docs", "benchmarks",
}  # fmt: skip
"""What may stand at the root of the repository, beside names that begin with a dot."""


def test_nothing_else_stands_at_the_root() -> None:
    """No test and no execution leaves a folder in the current one: some were named like a URL."""
    ignored = {line.strip("/") for line in (ROOT.parent / ".gitignore").read_text(encoding="utf-8").splitlines()}
    names = {path.name for path in ROOT.parent.iterdir() if not path.match(".*") and not path.match("*.egg-info")}
    assert names - ignored == TOP_LEVEL


def loaded_by(code: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after running some code."""
    return {name.partition(".")[0] for name in loaded_modules(code)}


def loaded_modules(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running some code."""
    show = f"import sys; {code}; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import substrait_dsl",
        # the shape of a pipeline needs no heavy library either
        "import substrait_dsl as sd; sd.read_named('t', {'a': sd.I64}).select('a').sort('a').columns",
    ],
)
def test_importing_the_package_loads_no_heavy_library(code: str) -> None:
    loaded = loaded_by(code)
    assert "substrait_dsl" in loaded
    assert loaded & {*HEAVY, "pandas", "numpy"} == set()


NOT_FOR_WRITING = {
    "substrait_dsl.algebra.accesses",
    "substrait_dsl.algebra.capabilities",
    "substrait_dsl.algebra.expressions.aggregates",
    "substrait_dsl.algebra.expressions.conditionals",
    "substrait_dsl.algebra.expressions.masks",
    "substrait_dsl.algebra.expressions.sort_keys",
    "substrait_dsl.algebra.expressions.union",
    "substrait_dsl.algebra.expressions.windows",
    "substrait_dsl.algebra.extended",
    "substrait_dsl.algebra.relations.extensions",
    "substrait_dsl.algebra.relations.files",
    "substrait_dsl.algebra.relations.groups",
    "substrait_dsl.algebra.relations.joins",
    "substrait_dsl.algebra.relations.sets",
    "substrait_dsl.algebra.relations.sorting",
    "substrait_dsl.algebra.relations.union",
    "substrait_dsl.algebra.requirements",
    "substrait_dsl.arrow",
    "substrait_dsl.consumers",
    "substrait_dsl.engines",
    "substrait_dsl.everyday",
    "substrait_dsl.fluent.checks",
    "substrait_dsl.fluent.conditionals",
    "substrait_dsl.fluent.exchange",
    "substrait_dsl.fluent.execution",
    "substrait_dsl.fluent.expand",
    "substrait_dsl.fluent.extended",
    "substrait_dsl.fluent.files",
    "substrait_dsl.fluent.grouping",
    "substrait_dsl.fluent.join_keys",
    "substrait_dsl.fluent.nested",
    "substrait_dsl.fluent.parameters",
    "substrait_dsl.fluent.reveal",
    "substrait_dsl.fluent.running",
    "substrait_dsl.fluent.saving",
    "substrait_dsl.fluent.tables",
    "substrait_dsl.fluent.windows",
    "substrait_dsl.mypy_plugin",
    "substrait_dsl.partiql",
    "substrait_dsl.proto.decoder",
    "substrait_dsl.proto.detached",
    "substrait_dsl.proto.functions",
    "substrait_dsl.proto.legacy",
    "substrait_dsl.proto.nesting_depth",
    "substrait_dsl.proto.producers",
    "substrait_dsl.proto.plan_text.plan",
    "substrait_dsl.proto.seldom_expressions",
    "substrait_dsl.proto.seldom_relations",
    "substrait_dsl.proto.shared_subtrees",
    "substrait_dsl.render",
    "substrait_dsl.spark",
    # of other packages, and of the standard library
    "google.protobuf.descriptor_pb2", "google.protobuf.json_format", "google.protobuf.struct_pb2",
    "substrait.extended_expression_pb2", "yaml",
    "base64", "difflib", "email", "graphlib", "importlib.metadata", "importlib.resources", "pathlib", "pkgutil",
    "random", "shutil", "socket", "tempfile", "textwrap", "urllib", "zipfile", "zlib",
}  # fmt: skip
"""Modules that a program does not wait for which only builds a plan and writes it."""


def test_writing_a_plan_loads_only_what_it_takes() -> None:
    """A program starts as fast as it loads little: what it does not use it does not load."""
    columns = "{'a': sd.I64, 'b': sd.String}"
    pipeline = f"sd.read_named('t', {columns}).filter(lambda r: r.a > 1).select('a')"
    loaded = loaded_modules(f"import substrait_dsl as sd; {pipeline}.to_plan().to_bytes()")
    assert "substrait_dsl.proto.encoder" in loaded
    assert loaded & NOT_FOR_WRITING == set()
    assert [name for name in NOT_FOR_WRITING if find_spec(name) is None] == []  # none is a name of the past


OWN_METHODS = """
import gc, substrait_dsl as sd
sd.read_named('t', {'a': sd.I64}).filter(lambda r: r.a > 1).to_plan().to_bytes()
gc.collect()  # a class with slots replaces one without them, which lives until it is collected
for kind in gc.get_objects():
    if isinstance(kind, type) and "__attrs_attrs__" in vars(kind) and kind.__module__.startswith("substrait_dsl"):
        for name in ("__repr__", "__eq__", "__hash__"):
            code = getattr(vars(kind).get(name), "__code__", None)
            if code is not None and code.co_filename.startswith("<attrs generated"):
                print(kind.__name__, name)
"""


def test_what_writing_a_plan_loads_has_no_methods_made_for_single_classes() -> None:
    """`FrozenValue` has them for all: to compile them for each class takes a fifth of the start of such a program."""
    found = subprocess.run([sys.executable, "-c", OWN_METHODS], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["Resolution __eq__", "Resolution __hash__"]  # some of its fields have no hash


MADE_AGAIN = """
import gc, attrs, substrait_dsl as sd
sd.read_named('t', {'a': sd.I64}).filter(lambda r: r.a > 1).to_plan().to_bytes()
gc.collect()  # a class with slots replaces one without them, which lives until it is collected
for kind in gc.get_objects():
    if isinstance(kind, type) and attrs.has(kind) and kind.__module__.startswith("substrait_dsl"):
        if "__attrs_attrs__" in vars(kind) and any(map(attrs.has, kind.__bases__)):
            if all(field.inherited for field in attrs.fields(kind)):
                print(kind.__name__)
        if kind.__dictoffset__:
            print(kind.__name__, "lacks __slots__")
"""


def test_what_writing_a_plan_loads_has_no_classes_that_attrs_makes_again() -> None:
    """A class without fields of its own has the constructor of the one that it extends, and slots by hand."""
    found = subprocess.run([sys.executable, "-c", MADE_AGAIN], capture_output=True, text=True, check=True)
    assert found.stdout == ""


def test_the_names_that_are_loaded_when_used_are_public() -> None:
    assert set(api.SELDOM_USED) <= set(api.__all__)
    for name, module in api.SELDOM_USED.items():
        value = getattr(api, name)
        if (
            name == module or get_origin(value) is Literal
        ):  # the module itself; a name that does not say where it stands
            assert f"substrait_dsl.{module}" in sys.modules
        else:
            assert value.__module__ == f"substrait_dsl.{module}"


@pytest.mark.parametrize("package", [relations, expressions], ids=lambda package: package.__name__.rpartition(".")[2])
def test_the_nodes_that_are_loaded_when_used_are_in_their_modules(package: ModuleType) -> None:
    """The table has each name once, and `__all__`, which type checkers read, has it as well."""
    table = package.SELDOM_USED
    names = [name for its_names in table.values() for name in its_names]
    assert len(set(names)) == len(names)
    assert set(names) <= set(package.__all__)
    for module, its_names in table.items():
        home = import_module(f"{package.__name__}.{module}")
        assert [name for name in its_names if getattr(package, name) is not getattr(home, name)] == []
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'Jion'"):
        package.Jion  # noqa: B018  # to read it is to look it up
