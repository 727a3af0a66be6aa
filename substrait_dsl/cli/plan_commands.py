"""Commands that look at plans: nothing runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from substrait_dsl.cli.plan_files import (
    STANDARD_INPUT,
    STANDARD_OUTPUT,
    json_option,
    plan_argument,
    print_json,
    read_plan,
    refuse_input,
    refuse_terminal,
    write_bytes,
    write_text,
)

if TYPE_CHECKING:
    from substrait_dsl.algebra.findings import Finding
    from substrait_dsl.algebra.settings import Encoding
    from substrait_dsl.engines.report import Report
    from substrait_dsl.fluent.plan import Plan

WEIGHTS = ("harmless", "assumed")
FORMATS = ("text", "html", "mermaid", "dot")
FORMS = ("binary", "json", "text", "sql")


@click.command(epilog="\b\nExamples:\n  substrait-dsl explain query.plan\n"
               "  substrait-dsl explain --format html query.plan > query.html\n"
               "  substrait-dsl explain --format dot query.plan | dot -Tsvg > query.svg")  # fmt: skip
@plan_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="As text; as a page whose steps fold; as a graph of Mermaid or of Graphviz.",
)
@json_option
def explain(plan: str, form: str, as_json: bool) -> None:
    """Print the steps of a plan, and who wrote it.

    Each step has its arguments and, behind an arrow, the columns that it puts out.
    """
    if as_json and form != "text":
        raise click.UsageError("--json has the text in it: leave --format out")
    found = read_plan(plan)
    if form != "text":
        write_text(STANDARD_OUTPUT, _drawn(found, form, plan) + "\n")
        return
    if as_json:
        print_json(
            {
                "producer": found.producer,
                "version": None if found.version is None else str(found.version),
                "roots": [{field.name: str(field.type) for field in root.schema} for root in found.roots],
                "text": str(found),
                "findings": [_finding(each) for each in found.findings],
            }
        )
        return
    if found._origin:
        print(f"({found._origin})")
    print(found)
    if found.findings:
        print(f"\nfindings ({len(found.findings)}):")
        print("\n".join(f"  {each}" for each in found.findings))


@click.command(epilog="\b\nExamples:\n  substrait-dsl view query.plan -o query.html\n"
               "  substrait-dsl view before.plan --compare after.plan -o changes.html")  # fmt: skip
@plan_argument
@click.option("-o", "--output", default=STANDARD_OUTPUT, help="The page; by default the standard output.")
@click.option("--compare", "other", metavar="PLAN", help="What the plan became: the page shows both, and what differs.")
def view(plan: str, output: str, other: str | None) -> None:
    """Write a page that shows a plan as a graph, for a browser.

    A click on a step shows its columns and its message, a click on a column where it comes from and where it goes. The
    page needs no network.
    """
    from substrait_dsl.fluent.pages import comparison_page, page_of

    if plan == other == STANDARD_INPUT:
        raise click.UsageError("the standard input is one plan: name a file for the other")
    if output == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError("the page is not for a terminal: name a file with -o")
    refuse_input(output, plan, *(() if other is None else (other,)))
    found = read_plan(plan)
    if other is None:
        page = page_of(found, plan)
    else:
        page = comparison_page(found, read_plan(other), f"{plan} and {other}", (plan, other))
    write_text(output, page)


@click.command(epilog="\b\nExample:\n  substrait-dsl validate --fail-on assumed query.plan")
@plan_argument
@click.option(
    "--fail-on",
    type=click.Choice(WEIGHTS),
    default="harmless",
    show_default=True,
    help="The weight from which on a finding fails.",
)
@json_option
def validate(plan: str, fail_on: str, as_json: bool) -> int:
    """List what is not as the specification says.

    Every type is derived anew, and every rule checked.

    The exit status is 1 for a finding, and for what is no plan or breaks a rule.
    """
    findings = read_plan(plan).findings
    if as_json:
        print_json([_finding(each) for each in findings])
    else:
        print("\n".join(map(str, findings)) or "as the specification says")
    return int(any(WEIGHTS.index(each.weight) >= WEIGHTS.index(fail_on) for each in findings))


def _drawn(plan: Plan, form: str, name: str) -> str:
    """Return a plan as a page or as a graph."""
    if form == "html":
        from substrait_dsl.markup import page

        return page(name, plan._repr_html_())
    return plan.to_mermaid() if form == "mermaid" else plan.to_graphviz()


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": str(finding.code),
        "weight": finding.weight,
        "message": finding.message,
        "paths": [*finding.paths],
        "places": finding.places,
    }


@click.command(epilog="\b\nExample:\n  substrait-dsl check query.plan --engine datafusion --engine spark")
@plan_argument
@click.option(
    "--engine", "engines", multiple=True, metavar="ENGINE", help="An engine, or the path of a profile; by default all."
)
@json_option
def check(plan: str, engines: tuple[str, ...], as_json: bool) -> int:
    """Say whether engines run a plan or refuse it.

    A plan runs as it is written, or lowered: with the same rows in another form, as `convert --engine` writes it.

    The exit status is 1 if one of them refuses it.
    """
    from substrait_dsl.fluent.checks import check_all

    reports = check_all(read_plan(plan), engines or None)
    if as_json:
        print_json({name: _report(report) for name, report in reports.reports.items()})
    elif len(reports.reports) == 1:
        print(*reports.reports.values())
    else:
        print(reports)
    return int(not all(reports.reports.values()))


def _report(report: Report) -> dict[str, Any]:
    findings = [
        {
            "code": each.code,
            "severity": each.severity,
            "why": each.why,
            "step": each.step,
            "expression": each.expression,
            "cure": each.cure,
            "is_refused": each.is_refused,
            "places": each.places,
        }
        for each in report.findings
    ]
    return {"verdict": report.verdict, "findings": findings}


@click.command(epilog="\b\nExamples:\n  substrait-dsl convert query.plan query.json\n"
               "  substrait-dsl convert --engine duckdb query.plan for_duckdb.plan\n"
               "  substrait-dsl convert --to text query.plan query.txt\n"
               "  substrait-dsl convert --to sql --dialect duckdb query.plan -")  # fmt: skip
@plan_argument
@click.argument("output")
@click.option("--to", "form", type=click.Choice(FORMS), help="By default what OUTPUT is called.")
@click.option(
    "--encoding",
    type=click.Choice(["spec", "legacy"]),
    help="With the fields of earlier versions of the specification beside today's, or not; by default spec.",
)
@click.option("--engine", help="Lower it for an engine, and write it as that reads it; binary only.")
@click.option("--dialect", type=click.Choice(["spark", "duckdb"]), help="Of SQL; by default Spark's.")
def convert(
    plan: str, output: str, form: str | None, encoding: Encoding | None, engine: str | None, dialect: Any
) -> None:
    """Write a plan in another form.

    It goes to a file, or to the standard output ("-"). OUTPUT is JSON if it ends in .json, SQL if in .sql, else
    protobuf's binary form. Text is the format of substrait-explain, which is read again like the other two.
    """
    form = form or {".json": "json", ".sql": "sql"}.get(Path(output).suffix.lower(), "binary")
    if engine is not None and form != "binary":
        raise click.UsageError("what is written for an engine is binary: leave --to out")
    if encoding is not None and (engine is not None or form in ("sql", "text")):
        raise click.UsageError("--encoding is of a plan in binary form or in JSON that is written for no engine")
    if dialect is not None and form != "sql":
        raise click.UsageError("--dialect is of SQL: add --to sql, or name OUTPUT so that it ends in .sql")
    if form == "binary":
        refuse_terminal(output)
    refuse_input(output, plan)
    found = read_plan(plan)
    if form == "sql":
        write_text(output, _require_one_root(found).to_sql(dialect or "spark") + "\n")
    elif form == "text":
        write_text(output, found.to_text())
    elif form == "json":
        write_text(output, found.to_json(encoding=encoding or "spec"))
    elif engine is not None:
        write_bytes(output, found.to_bytes(engine=engine))
    else:
        write_bytes(output, found.to_bytes(encoding=encoding or "spec"))


def _require_one_root(plan: Plan) -> Any:
    if len(plan.roots) != 1 or len(plan.trees) != 1:
        raise click.UsageError(f"one query is one relation: this plan has {len(plan.trees)} trees")
    return plan.roots[0]


@click.command(epilog="\b\nExample:\n  substrait-dsl diff before.plan after.plan")
@click.argument("before")
@click.argument("after")
@json_option
def diff(before: str, after: str, as_json: bool) -> int:
    """Compare the columns and the steps of two plans.

    The exit status is 1 if they differ.
    """
    from substrait_dsl.fluent.differences import diff as compare

    if before == after == STANDARD_INPUT:
        raise click.UsageError("the standard input is one plan: name a file for the other")
    found = compare(read_plan(before), read_plan(after))
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)
    return int(bool(found))


@click.command(epilog="\b\nExample:\n  substrait-dsl lineage query.plan")
@plan_argument
@json_option
def lineage(plan: str, as_json: bool) -> None:
    """Print which columns each column comes from.

    And which columns of tables and files decide about values and rows.
    """
    found = [tree.relation if hasattr(tree, "relation") else tree for tree in read_plan(plan).trees]
    traced = [each.lineage() for each in found]
    if as_json:
        print_json([each.to_dict() for each in traced])
    else:
        print("\n\n".join(map(str, traced)))


@click.command(epilog="\b\nExample:\n  substrait-dsl accesses query.plan")
@plan_argument
@json_option
def accesses(plan: str, as_json: bool) -> None:
    """Print what a plan reads, writes and defines."""
    found = read_plan(plan).accesses()
    if as_json:
        print_json([{"operation": each.operation, "object": each.object, "names": [*each.names]} for each in found.all])
    else:
        print(found)


@click.command(epilog="\b\nExample:\n  substrait-dsl digest query.plan")
@plan_argument
def digest(plan: str) -> None:
    """Print a name for what a plan says.

    It is the same for equal plans, whoever wrote them, on every machine.
    """
    print(read_plan(plan).digest())


PLAN_COMMANDS = (explain, view, validate, check, convert, diff, lineage, accesses, digest)
