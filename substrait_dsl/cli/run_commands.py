"""Commands that run plans and queries on an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from substrait_dsl.cli.plan_files import (
    STANDARD_OUTPUT,
    plan_argument,
    read_plan,
    refuse_input,
    refuse_terminal,
    write_bytes,
)
from substrait_dsl.errors import ExecutionError, NotAllowedError, UnsupportedError
from substrait_dsl.installation import install_line

if TYPE_CHECKING:
    from substrait_dsl.algebra.accesses import Access
    from substrait_dsl.fluent.plan import Plan

ENGINES = ("sail", "spark", "datafusion", "acero")

engine_option = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="What computes the rows; by default Sail, in the process and without Java.",
)
tables_option = click.option(
    "--table", "tables", multiple=True, metavar="NAME=PATH", help="A file for a table that is read; several times."
)
rows_option = click.option("-n", "--rows", type=click.IntRange(0), default=20, show_default=True, help="How many rows.")


@click.command(epilog="\b\nExample:\n  substrait-dsl run query.plan --table orders=orders.parquet")
@plan_argument
@engine_option
@tables_option
@rows_option
@click.option("--allow-changes", is_flag=True, help="Run a plan, too, that writes, defines or drops something.")
def run(plan: str, engine: str | None, tables: tuple[str, ...], rows: int, allow_changes: bool) -> None:
    """Run a plan and print its rows.

    It may read any table and file that the engine can; a plan that changes something is refused.
    """
    from substrait_dsl.algebra.accesses import require_allowed

    found = read_plan(plan)
    data = _named_as_read(_tables(tables), found)
    if not allow_changes:
        try:
            require_allowed(found.accesses(), _is_read)
        except NotAllowedError as error:
            error.hint = "--allow-changes runs it"
            raise
    session = _session(engine)
    with _hints_of_options(found, data):
        _run(found, session, data, rows)


@contextmanager
def _hints_of_options(plan: Plan, tables: Mapping[str | tuple[str, ...], str]) -> Iterator[None]:
    """Name the option for a table that the plan reads and nobody gives, where one is not there."""
    try:
        yield
    except ExecutionError as error:
        read = [each.names for each in plan.accesses() if (each.operation, each.object) == ("read", "table")]
        missing = next((".".join(names) for names in read if names not in tables and names[0] not in tables), None)
        if missing is not None and error.table is not None:
            error.hint = f"--table {missing}=PATH gives its rows, a file of Parquet or Arrow"
        raise


def _run(found: Plan, session: Any, data: Mapping[str | tuple[str, ...], str], rows: int) -> None:
    """Run a plan and print the rows of each of its roots, or of what it changes."""
    if any(not _is_read(access) for access in found.accesses()):
        frames = found.execute(session, tables=data)
        for frame in frames:
            frame.show(rows)
        return
    for root in found.roots:
        root.show(session, rows, tables=data, allow=_is_read)


@click.command(
    epilog='\b\nExample:\n  substrait-dsl sql "select k, sum(x) as total from t group by k" --table t=t.parquet'
)
@click.argument("query")
@engine_option
@tables_option
@rows_option
@click.option(
    "-o", "--output", metavar="PATH", help='Write the plan there instead of running it; "-" is the standard output.'
)
def sql(query: str, engine: str | None, tables: tuple[str, ...], rows: int, output: str | None) -> None:
    """Run a query in SQL over files, or write its plan.

    The columns of a table are those of its file.
    """
    from substrait_dsl.fluent.reads import read_named
    from substrait_dsl.fluent.schema_of import schema_of
    from substrait_dsl.sql_queries.reading import from_sql

    data = _tables(tables)
    if output is not None:
        refuse_terminal(output)
        refuse_input(output, *data.values())
    relation = from_sql(query, {name: read_named(name, schema_of(path)) for name, path in data.items()})
    if output == STANDARD_OUTPUT:
        write_bytes(output, relation.to_plan().to_bytes())
    elif output is not None:
        relation.to_plan().save(output)
    else:
        relation.show(_session(engine), rows, tables=data)


def _tables(options: Sequence[str]) -> dict[str, str]:
    """Return the paths by the names of tables. Raises `click.UsageError` for what is no such pair."""
    found: dict[str, str] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or not name or not path:
            raise click.UsageError(f"--table {option}: expected NAME=PATH, such as orders=orders.parquet")
        if name in found:
            raise click.UsageError(f"--table {option}: there is a file for {name} already")
        found[name] = path
    return found


def _named_as_read(tables: dict[str, str], plan: Plan) -> dict[str | tuple[str, ...], str]:
    """Return the paths by the names as the plan has them: `shop.orders` may be a name of two parts."""
    read = [access.names for access in plan.accesses() if (access.operation, access.object) == ("read", "table")]
    in_parts = {".".join(names): names for names in read}
    return {name if (name,) in read else in_parts.get(name, name): path for name, path in tables.items()}


def _is_read(access: Access) -> bool:
    return access.operation == "read"


EXTRAS = {"datafusion": "sql", "pyarrow": "arrow", "pyspark": "spark"}
"""The extra that installs each package that an engine needs."""


def _session(engine: str | None) -> Any:
    """Return a session of an engine; None for the embedded one. Raises `UnsupportedError` where it is not installed."""
    try:
        match engine:
            case "spark":
                from substrait_dsl.spark.session import local_session

                return local_session()
            case "datafusion":
                from substrait_dsl.consumers.datafusion import new_session

                return new_session()
            case "acero":
                from substrait_dsl.consumers.acero import AceroSession

                return AceroSession()
            case _:
                return None
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        raise UnsupportedError(
            f"{engine} needs the package {error.name}, which is not installed", hint=install_line(EXTRAS[error.name])
        ) from None


RUN_COMMANDS = (run, sql)
