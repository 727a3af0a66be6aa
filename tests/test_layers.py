"""The layers: a module imports its own layer and lower ones; heavy libraries are imported only in their places."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from substrait_dsl import api

ROOT = Path(__file__).parent.parent / "substrait_dsl"

LAYERS: dict[str, int] = {  # by the longest prefix of the module's name
    "errors": 0,
    "calling": 0,
    "installation": 0,
    "algebra.validators": 1,
    "algebra.types": 1,
    "algebra.type_text": 1,
    "algebra.type_syntax": 1,
    "algebra.type_parser": 1,
    "algebra.schema": 1,
    "algebra.rules": 1,
    "algebra.extensions": 1,
    "algebra.findings": 1,
    "algebra.pickling": 1,
    "algebra.common": 1,
    "algebra.requirements": 1,
    "algebra.capabilities": 1,
    "algebra.capability_comparison": 1,
    "algebra.functions": 1,
    "algebra.unicode": 1,
    "catalog": 2,
    "algebra.settings": 3,
    "algebra.properties": 3,
    "algebra.node": 3,
    "algebra.expressions": 3,
    "algebra.relations": 4,
    "algebra.trees": 4,
    "algebra.evaluation": 4,
    "algebra.accesses": 4,
    "algebra.joined_groups": 4,
    "algebra.live_ranges": 4,
    "algebra.plan": 4,
    "algebra.stability": 4,
    "algebra.extended": 4,
    "algebra.anchors": 4,
    "proto": 5,
    "spark": 5,
    "render": 5,
    "arrow": 5,
    "layouts": 4,
    "engines": 5,
    "consumers": 6,
    "fluent": 6,
    "functions": 6,
    "partiql": 6,
    "api": 7,
    "mypy_plugin": 7,
    "demo": 7,
    "testing": 7,
    "pytest_plugin": 7,
    "cli": 7,
    "": 7,  # the package itself
}
LEAVES = ("proto", "spark", "render", "arrow", "engines")
"""The places of layer 5: none of them imports another."""

ROOMS: dict[str, int] = {  # by the longest prefix, too
    "spark.session": 0,
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
"""The order of what `spark` is made of."""

HEAVY: dict[str, tuple[str, ...]] = {
    "google": ("proto",),
    "substrait": ("proto",),
    "pyspark": ("spark",),
    "py4j": ("spark",),
    "pyarrow": ("arrow", "consumers", "layouts", "spark"),  # pyspark takes and gives Arrow tables
    "pandas": ("arrow",),
    "polars": ("arrow",),
    "datafusion": ("consumers",),
    "duckdb": ("consumers",),
    "yaml": ("catalog",),
    "mypy": ("mypy_plugin",),
    "pytest": ("pytest_plugin",),
}
"""Libraries that take long to load or may be absent, and the only places that import them."""

ONLY_FOR_ANNOTATIONS = {
    # A column's type is the descriptor of a schema class: reading it gives a typed expression.
    *((f"algebra.types.{module}", "fluent.expr") for module in ("base", "scalars", "sized", "nested")),
    ("algebra.types.scalars", "algebra.expressions.literals"),
    ("algebra.types.sized", "algebra.expressions.literals"),
    # What an execution shares, and what an engine is given, hold values of rooms above, and only hand them on.
    ("spark.session.engines", "spark.expressions.templates"),
    ("spark.session.workspace", "spark.catalog.text_records"),
    ("spark.session.workspace", "spark.sources.arrow_tables"),
    # The signatures of `to_arrow`, `to_spark`, `execute` and `to_proto` name what they return.
    ("fluent.schemas", "pyarrow"),
    ("pytest_plugin", "pyspark.sql"),
    ("testing", "pyarrow"),
    ("fluent.schemas", "pyspark.sql.types"),
    ("fluent.base", "pyspark.sql"),
    ("fluent.given_tables", "pyarrow"),
    ("fluent.plan", "pyspark.sql"),
    ("fluent.running", "pyspark.sql"),
    ("fluent.running", "pyarrow"),
    ("fluent.execution", "pyarrow"),
    ("fluent.execution", "pyspark.sql"),
    ("fluent.execution", "datafusion"),
    ("fluent.execution", "duckdb"),
    ("fluent.base", "pyarrow"),
    ("fluent.base", "pandas"),
    ("fluent.base", "polars"),
    ("partiql.builder", "pyspark.sql"),
    ("partiql.handles", "pyspark.sql"),
    ("fluent.plan", "substrait.plan_pb2"),
    ("fluent.checks", "substrait.plan_pb2"),
    ("fluent.documents", "substrait.plan_pb2"),
    ("fluent.documents", "substrait.extended_expression_pb2"),
    ("fluent.extended", "substrait.extended_expression_pb2"),
    ("fluent.schemas", "substrait.type_pb2"),
}
"""Imports under ``if TYPE_CHECKING:`` that would break a rule if they ran."""


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """What a file imports, in functions too, and whether only a type checker sees it."""

    def visit(node: ast.AST, checking: bool) -> Iterator[tuple[str, bool]]:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, checking) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                assert level == 0, f"{path}: relative imports are not used"
                assert module is not None
                # `from package import name` may import a module of that name
                yield from ((_home(module, alias.name), checking) for alias in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=orelse):
                yield from (found for child in body for found in visit(child, True))
                yield from (found for child in orelse for found in visit(child, checking))
            case _:
                yield from (found for child in ast.iter_child_nodes(node) for found in visit(child, checking))

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), False)


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
    if place(importer) == place(target) == "spark" and layer(target, ROOMS) > layer(importer, ROOMS):
        return f"room {layer(importer, ROOMS)} imports room {layer(target, ROOMS)}"
    return None


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module or "__init__")
def test_imports_go_down_only(module: str) -> None:
    exempt = {imported for importer, imported in ONLY_FOR_ANNOTATIONS if importer == module}
    broken = [
        f"{imported}: {rule}"
        for imported, checking in imports(MODULES[module])
        if (rule := broken_rule(module, imported))
        and not (checking and imported.removeprefix("substrait_dsl.") in exempt)
    ]
    assert broken == []


def test_every_exemption_is_needed() -> None:
    used = {
        (module, imported.removeprefix("substrait_dsl."))
        for module, path in MODULES.items()
        for imported, checking in imports(path)
        if checking and broken_rule(module, imported)
    }
    assert used == ONLY_FOR_ANNOTATIONS


def test_the_rules_catch_what_they_forbid() -> None:
    """One import of each forbidden kind, lest a mistake in this file let everything through."""
    for importer, imported in [
        ("algebra.rules", "substrait_dsl.algebra.relations"),
        ("catalog.load", "substrait_dsl.algebra.expressions.calls"),
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
    "substrait_dsl.algebra.extended",
    "substrait_dsl.algebra.requirements",
    "substrait_dsl.arrow",
    "substrait_dsl.consumers",
    "substrait_dsl.engines",
    "substrait_dsl.fluent.checks",
    "substrait_dsl.fluent.extended",
    "substrait_dsl.fluent.running",
    "substrait_dsl.fluent.saving",
    "substrait_dsl.mypy_plugin",
    "substrait_dsl.partiql",
    "substrait_dsl.proto.decoder",
    "substrait_dsl.proto.legacy",
    "substrait_dsl.proto.producers",
    "substrait_dsl.proto.trees",
    "substrait_dsl.render",
    "substrait_dsl.spark",
    # of protobuf, and of the standard library
    "google.protobuf.descriptor_pb2", "google.protobuf.json_format", "json",
    "difflib", "email", "importlib.metadata", "importlib.resources", "random", "shutil", "socket", "tempfile",
    "textwrap", "zipfile",
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


def test_the_names_that_are_loaded_when_used_are_public() -> None:
    assert set(api.SELDOM_USED) <= set(api.__all__)
    for name, module in api.SELDOM_USED.items():
        assert getattr(api, name).__module__ == f"substrait_dsl.{module}"
