"""Commands for projects: a demonstration, the columns of files, stubs, schema modules, and contracts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from substrait_dsl.cli.plan_files import read_plan
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.texts import printable

if TYPE_CHECKING:
    from substrait_dsl.fluent.base import RelationBase


@click.command(epilog="\b\nExample:\n  substrait-dsl demo --engine spark")
@click.option(
    "--engine",
    type=click.Choice(["sail", "spark"]),
    help="What computes the rows: Sail, in the process and without Java (the default if installed), or Spark.",
)
@click.option("--no-rows", is_flag=True, help="Leave out the part that needs an engine.")
def demo(engine: Any, no_rows: bool) -> None:
    """Build, print, serialise and run a small pipeline."""
    from substrait_dsl.demo import run

    run(engine, rows=not no_rows)


@click.command(epilog="\b\nExamples:\n  substrait-dsl schema orders.parquet\n  substrait-dsl schema --plan query.plan")
@click.argument("file")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "orc", "arrow", "csv", "json"]),
    help="The format of the file, which by default it says itself, or its name.",
)
@click.option("--plan", "is_plan", is_flag=True, help="The file is a plan: print the columns that it returns.")
@click.option(
    "--as",
    "form",
    type=click.Choice(["class", "json", "ddl"]),
    default="class",
    show_default=True,
    help="A class of Python, JSON, or Spark's DDL.",
)
def schema(file: str, file_format: Any, is_plan: bool, form: str) -> None:
    """Print the columns of a file or a plan as a class.

    FILE is the path or URI of a Parquet, ORC or Arrow file, of delimited text or of JSON lines.
    """
    from substrait_dsl.fluent.schema_of import schema_of

    if is_plan and file_format is not None:
        raise click.UsageError("--format is of a file of rows, and not of a plan")
    sources: list[Any] = [*_roots_with_columns(file)] if is_plan else [file]
    for source in sources:
        found = schema_of(source, format=file_format)
        print(found.to_json(indent=2) if form == "json" else found.to_ddl() if form == "ddl" else found)


def _roots_with_columns(file: str) -> Iterator[RelationBase]:
    """Yield the roots of a plan that return columns; of the others it is said that they return none.

    Raises:
        UnsupportedError: none returns columns.
    """
    roots = read_plan(file).roots
    if not any(len(root.schema) for root in roots):
        raise UnsupportedError(
            "the plan returns no columns", hint="explain prints its steps, accesses what it reads and writes"
        )
    for number, root in enumerate(roots):
        if len(root.schema):
            yield root
        else:
            print(f"substrait-dsl: root {number} of the plan returns no columns", file=sys.stderr)


@click.command(epilog="\b\nExample:\n  substrait-dsl stub money.yaml > money.pyi")
@click.argument("extension", metavar="EXTENSION")
def stub(extension: str) -> None:
    """Print typed stubs of an extension YAML file."""
    from pathlib import Path

    from substrait_dsl.fluent.stub import stub_of

    print(stub_of(Path(extension)), end="")


@click.command(
    epilog="\b\nExamples:\n  substrait-dsl typing --write shop.pipelines\n"
    "  substrait-dsl typing --report --fail-under 95 shop"
)
@click.option("--write", is_flag=True, help="Write the schema modules of modules of pipelines.")
@click.option("--check", is_flag=True, help="Fail, with a diff, if one of them is out of date.")
@click.option("--report", is_flag=True, help="Say how many relations and conditions the mypy plugin knows.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="With --report: fail if less than that is known.",
)
@click.argument("modules", nargs=-1, required=True, metavar="MODULE...")
def typing(write: bool, check: bool, report: bool, fail_under: float | None, modules: tuple[str, ...]) -> int:
    """Keep schema modules, or report what is known.

    MODULE is the name of a module; with --report also a file or a folder.
    """
    if write + check + report != 1:
        raise click.UsageError("one of --write, --check and --report is needed")
    if fail_under is not None and not report:
        raise click.UsageError("--fail-under is for --report")
    return _report_typing(modules, fail_under) if report else _keep_schemas(modules, is_written=write)


def _keep_schemas(modules: Sequence[str], *, is_written: bool) -> int:
    """Write the schema modules of modules, or say what is out of date in them; the exit status."""
    from substrait_dsl.schema_modules import COMMAND, schema_modules

    status = 0
    for found in schema_modules(modules):
        if is_written:
            print(f"{found.path}: {'written' if found.write() else 'up to date'}")
        elif found.difference:
            print(found.difference, end="")
            print(f"substrait-dsl: {found.path} is out of date; run {COMMAND} {found.name}", file=sys.stderr)
            status = 1
    return status


def _report_typing(paths: Sequence[str], least: float | None) -> int:
    """Say how much of a program mypy knows with the plugin; the exit status."""
    try:
        from substrait_dsl.mypy_plugin.typing_report import make_report
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mypy"):
            raise
        raise UnsupportedError(
            "the report is made by mypy, which is not installed", hint='install the extra "mypy"'
        ) from None
    report = make_report(paths)
    print("\n".join(report.lines()))
    if least is not None and report.percentage < least:
        print(f"substrait-dsl: less than {least:g} % is known", file=sys.stderr)
        return 1
    return 0


@click.group(epilog="\b\nExample:\n  substrait-dsl contract check shop.pipelines")
def contract() -> None:
    """Compare the columns of pipelines with those that are stored."""


_modules = click.argument("modules", nargs=-1, required=True, metavar="MODULE...")
_file = click.option("--file", default="contracts.json", show_default=True, help="The file with the contracts.")


@contract.command("write", epilog="\b\nExample:\n  substrait-dsl contract write shop.pipelines")
@_file
@_modules
def write_contracts(file: str, modules: tuple[str, ...]) -> None:
    """Store the columns of all pipelines.

    What became of them since they were stored is printed.

    MODULE is the name of a module. Contracts of other modules stay as they are.
    """
    from substrait_dsl.contracts import Contracts

    stored = Contracts.load(file) if os.path.exists(file) else Contracts({})
    present = Contracts.of_modules(modules)
    changes = [*stored.of(modules).changes(present)]
    if changes:
        others = {name: columns for name, columns in stored.columns.items() if name not in stored.of(modules).columns}
        Contracts({**others, **present.columns}).save(file)
        print("\n".join(map(str, changes)))
    print(f"{printable(file)}: {'written' if changes else 'up to date'}")


@contract.command(
    "check", epilog="\b\nExample:\n  substrait-dsl contract check shop.pipelines --allow added --allow tightened"
)
@_file
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="CHANGE",
    help="What may become of columns: added, dropped, retyped, loosened, tightened or moved; once for each.",
)
@_modules
def check_contracts(file: str, allowed: tuple[Any, ...], modules: tuple[str, ...]) -> int:
    """Fail if a pipeline breaks its contract.

    It may have no other columns, and must have a contract.

    MODULE is the name of a module.
    """
    from substrait_dsl.contracts import WRITE, Contracts, require_column_changes

    require_column_changes(allowed)
    changes = [*Contracts.load(file).of(modules).changes(Contracts.of_modules(modules))]
    for change in changes:
        print(f"{change}{'  (allowed)' * change.is_allowed(allowed)}")
    if all(change.is_allowed(allowed) for change in changes):
        return 0
    print(f"substrait-dsl: contracts are broken; if that is meant: {WRITE} {' '.join(modules)}", file=sys.stderr)
    return 1


PROJECT_COMMANDS = (contract, demo, schema, stub, typing)
