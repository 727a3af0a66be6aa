"""Whatever a public function, class or method is given: it works with it, or raises an error of the tree.

The names are those of the api, and the methods those of the objects that come out of them, as deep as that goes: what
is new is tried too. Every argument is every bad value once, while the others are good. What comes out is used, since
what is wrong with a helper object may only show where a verb takes it.
"""

from __future__ import annotations

import datetime as dt
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import substrait_dsl as sd
from substrait_dsl import api
from substrait_dsl.algebra import relations as rl
from substrait_dsl.catalog import Typed
from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError
from substrait_dsl.fluent.documents import Document
from substrait_dsl.fluent.expr import ExprBase, SortKey
from substrait_dsl.fluent.subqueries import Quantified
from substrait_dsl.fluent.windows import UP_TO_THE_CURRENT_ROW, Offset
from tests.support import f, table

T = table("id: i64, name: string, s: struct<i64, string>, xs: list<i64>, small: i32")
U = table("id: i64, city: string", "u")
MESSAGE = sd.AnyMessage("type.googleapis.com/acme.Hint", b"\x01")
EXTENSION = sd.AdvancedExtension((MESSAGE,))
CATALOG = sd.standard_catalog()
PLAN = sd.Plan(U)
ARROW = pyarrow.table({"id": [1]})


SHOUT = sd.Functions(
    CATALOG.with_extension(
        """
        urn: extension:com.acme:texts
        scalar_functions:
          - name: shout
            impls: [{args: [{name: x, value: string}], return: string}]
        """
    )
).shout


class OnlyId(sd.Schema):
    id: sd.I64


class Plain:
    """A class of somebody's."""


class Word:
    """One of a few words, none of which is bad."""


BAD: tuple[Any, ...] = (
    None, True, 5, -(2**70), (2**70,), 1.5, float("nan"), Decimal("NaN"), "x", "", "\ud800", b"x", object(), iter(()),
    [], [None], (1.5,), {}, {"x": None}, {5: 5}, {1, 2}, dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    lambda *values: None, lambda x: x, Plain, int, sd.I64, sd.Decimal, sd.I64(), f, f.add, f.count(), f.rank(),
    sd.col("missing"), sd.lit("text"), U.c.city, U, U.schema, sd.asc("id"), MESSAGE, EXTENSION,
)  # fmt: skip
CODE_PARAMETERS = [*inspect.signature(sd.FindingCode).parameters]
"""Those of enum, of which the first is called otherwise since Python 3.13."""

GOOD: Mapping[str, Any] = {
    "arguments": 1, "body": lambda x: x, "bounds": UP_TO_THE_CURRENT_ROW, "call": f.count()._call, "cases": {1: 2},
    "changes": {"id": 1}, "chosen": "id", "column": "id", "comparison": "eq", "condition": sd.col("id") > 1,
    "conditions": sd.col("id") > 1, "count": 3, "data": PLAN.to_bytes(), "day_seconds": sd.DaySeconds(1), "default": 0,
    "destination": "http://a", "detail": MESSAGE, "direction": "clustered", "distance": 2, "element": sd.I64(),
    "engine": "datafusion", "entries": {"a": 1}, "expression": "small",
    "extensions": tuple(CATALOG.extensions.values()), "field": (0,),
    "fields": "id", "function": f.add, "functions": f.rank(), "high": 9, "id": 1, "item": 1, "key": sd.String(),
    "keys": "id", "kind": "singleton", "left": "id", "length": 5, "low": 1, "match": sd.col("id"),
    "measures": f.count().alias("n"), "message": "a message", "metadata_uri": "s3://a", "name": "x", "names": ("x",),
    "new": sd.col("id"), "nullable": True, "number": 1, "on": "id", "op": "union_all", "other": U, "others": T,
    "parameter_types": (sd.I64(),), "parameters": {"x": sd.I64}, "parts": 0, "path": "x.plan", "paths": "x.parquet",
    "positions": [0], "precision": 6, "reference": sd.col, "rel": T._rel, "relation": U.select("id"), "relations": T,
    "resolve": lambda scope: rl.Broadcast(), "return_type": sd.I64(), "right": "id", "row": lambda r: OnlyId(id=r.id),
    "rows": [(1,)], "scale": 2, "schema": OnlyId, "struct": T._rel.schema, "table": "t", "target": "t", "text": "i64",
    "to": sd.I64, "type": sd.I64(), "type_url": "type.googleapis.com/acme.Hint", "types": (sd.I64(),), "uri": "s3://a",
    "join.on": "id", "asof_join.on": "id", "asof_join.by": (),
    "urn": "extension:acme:x", "value": 1, "values": sd.col("id"), "where": True, "year_months": sd.YearMonths(1),
    "implement.function": SHOUT, "implement.engine": "spark", "implementation": "upper({x})",
    "operation": "read", "object": "table", "all": (),
    "check.engine": sd.Capabilities(), "check_all.plan": PLAN, "engines": ["datafusion"],
    "from_sql.query": "select 1 as x", "from_sql.tables": {"t": T}, "from_sql.named": T,
    "CheckFinding.code": "x", "severity": "rejected", "why": "x", "step": "x",
    "cure": "x", "is_refused": True, "places": 1, "verdict": "runs", "findings": (), "reports": {},
    "requirement": sd.Requirement("version", "0.106.0"), "read_capabilities.path": "small.yaml",
    "FunctionCapability.options": {"overflow": ["ERROR"]},
    "Finding.code": sd.FindingCode.ROOT_NAMES, f"FindingCode.{CODE_PARAMETERS[0]}": "root-names",
    "GroupBy.keys": ("id",), "GroupBy.named": {}, "GroupBy.relation": T,
    "agg.measures": f.count().alias("n"), "agg.named": f.count(), "CatalogFunction.options": "ERROR",
    "Computation.type": "hashtable", "cube.named": f.count(), "DynRow.schema": T._rel.schema,
    "elements.positions": 1, "exchange.kind": sd.broadcast(), "expand.fields": sd.col("id"),
    "ExtendedExpression.columns": "id",
    "extension_multi.relations": [T], "frame.rows": (None, 0), "from_json.text": PLAN.to_json(),
    "from_text.text": PLAN.to_text(), "from_proto.message": PLAN.to_proto(),
    "is_in.options": [1], "LambdaFunction.function": lambda x: x,
    "lateral_join.right": lambda r: U, "Map.value": sd.I64(), "matches.other": sd.I64(),
    "multi_bucket.expression": sd.lit([1], sd.List(sd.I32())), "named.name": "add", "of.fields": {"x": sd.I64()},
    "overload.key": "add:i64_i64", "overload.urn": "extension:io.substrait:functions_arithmetic",
    "chosen.urn": "extension:io.substrait:functions_arithmetic", "Plan.trees": T, "with_roots.trees": T,
    "record.is_in.options": [(1,)], "resolve.arguments": [Typed(sd.I64()), Typed(sd.I64())], "resolve.kind": "scalar",
    "resolve.name": "add", "rollup.named": f.count(), "Row.schema": T._rel.schema, "Switching.values": (1, 2),
    "unnest.column": "xs", "pivot.values": [1, 2], "pivot.measure": f.count(), "pivot.on": "id",
    "first_of.order_by": "id", "drop_nulls.columns": "id", "fill_null.values": {"id": 1}, "unpivot.columns": "id",
    "unpivot.name": "what", "value_counts.columns": "id", "describe.columns": "id",
    "with_extension.extension": "x.yaml", "with_extension.own": EXTENSION, "with_relation.columns": {"x": "i64"},
    "write.op": "insert",
    "ColumnChange.kind": "added", "before": "i64", "after": "i64?", "StepChange.kind": "changed", "diff.before": T,
    "diff.after": PLAN, "use": "filter", "SourceColumn.names": ("t",), "SourceColumn.column": "id", "root": 0,
    "ColumnOrigin.source": sd.SourceColumn("table", ("t",), "id"), "direct": (), "indirect": (),
    "Lineage.columns": (sd.ColumnLineage("id", (), ()),),
    "depending_on.source": sd.SourceColumn("table", ("t",), "id"), "Lineage.rows": (), "Lineage.column.name": "id",
    "PlanDiff.columns": (), "steps": (), "declarations": (),
    "frame": ARROW, "most_rows": 5, "source": OnlyId, "indent": 2, "dialect": "spark", "to_source.name": "Rows",
}  # fmt: skip
"""Good values of arguments by their names; where that does not do, by those of the function and the argument."""

ONLY: Mapping[str, type] = {
    "AdvancedExtension": sd.AdvancedExtension,
    "AnyMessage": sd.AnyMessage,
    "Catalog": sd.Catalog,
    "ExprBase": ExprBase,
    "None": type(None),
    "Path": Path,
    "RelationBase": sd.Relation,
    "Type": sd.Type,
    "TypeVariation": sd.TypeVariation,
    "bool": bool,
    "bytes": bytes,
    "int": int,
    "str": str,
    **dict.fromkeys(("JoinType", "LateralJoinType", "SetOp", "Nulls", "EvaluationMode", "ComputationType"), Word),
    **dict.fromkeys(("rl.AggregateMethod", "rl.WindowMethod", "rl.WriteOp", "rl.OutputMode", "rl.CreateMode"), Word),
    **dict.fromkeys(("rl.PathKind", "rl.BuildSide", "ex.FailureBehavior"), Word),
}
"""Annotations that say all: an argument of these is of this class, or refused."""

INTERNAL = {
    "Catalog.possible_cast",
    "Catalog.widen",
    "Catalog.resolve",
    "ExchangeKind.resolve",
    *(f"FindingCode.{name}" for name in CODE_PARAMETERS[1:]),
    "GroupBy.keys",
    "GroupBy.named",
    "GroupBy.relation",
    "LambdaFunction.function",
    "LambdaFunction.names",
    "LambdaFunction.parameter_types",
    "LambdaFunction.resolve_types",
    "LambdaFunction.types",
    "SubstraitDslError.hint",  # this and the next four are for errors of this package
    "SubstraitDslError.names",
    "SubstraitDslError.details",
    "SubstraitDslError.reason",
    "SubstraitDslError.remedy",
    "Plan.execute.allow",  # tests/test_strangers.py has it, for all verbs that run
    "Plan.running.allow",
    "Relation.collect.allow",
    "Relation.execute.allow",
    "Relation.running.allow",
    "Relation.show.allow",
    "Plan.execute.persist_shared",  # this and those of verbs that run need a session: tests/spark has them
    "Plan.running.persist_shared",
    "Plan.running.progress",
    "Plan.execute.tables",  # tests/spark/test_given_tables.py has it, for all of them
    "Plan.running.tables",
    "Relation.collect.tables",
    "Relation.execute.tables",
    "Relation.running.tables",
    "Relation.show.tables",
    *(
        f"Relation.{verb}.{name}"
        for verb in ("to_arrow", "to_pandas", "to_polars")
        for name in ("tables", "allow", "persist_shared", "progress")
    ),
    "Properties.moved",
    "Relation.collect.persist_shared",
    "Relation.collect.progress",
    "Relation.execute.persist_shared",
    "Relation.running.persist_shared",
    "Relation.running.progress",
    "Relation.show.n",
    "Relation.show.progress",
    "Relation.show.truncate",
    "Relation.show.vertical",
    "SortKey.direction",
    "WindowFunction.bounds",
    "WindowFunction.distinct_values",
    "WindowFunction.name",
    "WindowFunction.framed",
}
"""Methods and arguments by which the library's own modules speak to each other, of what they have checked."""

RECORDS = ("Field", "SubstraitDslError")
"""What people are given and never give: it holds what it is given."""

BASES = ("DynExpr", "Expr", "Nullable", "Type")
"""Classes whose objects others make, or of which there are none."""

FILES = ("load", "save", "with_extension", "read_capabilities")
SPARK = ("collect", "execute", "running", "show", "to_arrow", "to_pandas", "to_polars", "from_sql")
"""Functions that are not tried where there are no files, and no engines."""

Subject = Callable[..., Any]


def call(name: str, subject: Subject, given: Mapping[str, Any] | None = None) -> Any:
    """Call with the arguments that are given, and good ones for the others that it needs."""
    bound = inspect.signature(subject).bind_partial()
    for parameter in bound.signature.parameters.values():
        several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        own = f"{name}.{parameter.name}"
        own = own if own in GOOD else f"{name.rpartition('.')[2]}.{parameter.name}"
        if given and parameter.name in given:
            value = given[parameter.name]
        elif own in GOOD:
            value = GOOD[own]
        elif parameter.name in GOOD and (several or parameter.default is parameter.empty):
            value = GOOD[parameter.name]
        elif several or parameter.default is not parameter.empty:
            continue
        else:
            raise AssertionError(f"{name}: which value is good for {parameter.name}? Say it in GOOD")
        if several:
            value = (value,) if parameter.kind is parameter.VAR_POSITIONAL else {"new": value}
        bound.arguments[parameter.name] = value
    return subject(*bound.args, **bound.kwargs)


def subjects() -> Iterator[tuple[str, Subject]]:
    """The public functions and classes, the methods of what they give, the methods of what these give, and so on."""
    waiting: list[tuple[str, Any]] = [(name, getattr(api, name)) for name in api.__all__]
    waiting += [(f"functions.{name}", getattr(f, name)) for name in ("abs", "sum", "lag")]
    waiting += [("Relation.as_", T.select("id").as_), ("Expr.keep", T.c.s.keep)]
    waiting += [("RelationSchema.to_ddl", T.select("id").schema.to_ddl)]  # those of the samples do not fit
    seen: set[object] = {sd.Relation.as_, sd.Expr.keep, sd.RelationSchema.to_ddl}
    for sample in (PLAN, T, T.c.id, T.c, OnlyId(id=sd.col("id"))):
        waiting += methods(sample, seen)
    for name, subject in waiting:
        if callable(subject) and is_ours(subject) and name not in INTERNAL:
            yield name, subject
            if "__" not in name and name.rpartition(".")[2] not in (*BASES, *FILES, *SPARK):
                try:
                    waiting += methods(call(name, subject), seen)
                except Exception as error:  # of any kind: what is good for it is not said yet
                    UNCALLED[name] = error


UNCALLED: dict[str, Exception] = {}
"""What cannot be called with the good values: a new function, whose arguments `GOOD` lacks."""


def test_everything_can_be_called_with_good_values() -> None:
    assert UNCALLED == {}


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("substrait_dsl.")


def methods(sample: object, seen: set[object]) -> Iterator[tuple[str, Subject]]:
    """The methods of an object of a public class, each function once."""
    kind = type(sample)
    if kind not in vars(api).values() and not kind.__module__.startswith("substrait_dsl.fluent."):
        return
    for name in dir(kind):
        function = getattr(kind, name)
        function = getattr(function, "__func__", function)  # of a class method
        if inspect.isfunction(function) and is_ours(function) and function not in seen:
            seen.add(function)
            if not name.startswith("_") or {name, name.replace("__r", "__", 1)} & vars(operator).keys():
                yield f"{kind.__name__}.{name}", getattr(sample, name)


USES: Sequence[tuple[type | tuple[type, ...], Callable[[Any], Sequence[object]]]] = (
    (sd.Relation, lambda value: [value.explain(properties=True), value.to_plan()]),
    (Document, lambda value: [value.to_bytes()]),
    (ExprBase, lambda value: [T.select(x=value), T.sort(value)]),
    (sd.Measure, lambda value: [T.aggregate(x=value)]),
    (sd.WindowFunction, lambda value: [value.over(order_by="id"), T.window(order_by="id", x=value)]),
    (SortKey, lambda value: [T.sort(value)]),
    (sd.ExchangeKind, lambda value: [T.exchange(value)]),
    (rl.ExchangeTarget, lambda value: [T.exchange(sd.broadcast(), targets=[value])]),
    (sd.Switching, lambda value: [T.expand(x=value)]),
    (sd.JoinKey, lambda value: [T.hash_join(U, [value])]),
    (
        Offset,
        lambda value: [
            f.count().over(order_by="id", rows=(value, None)),
            f.count().over(order_by="id", range=(None, value)),
        ],
    ),
    (Quantified, lambda value: [T.c.id > value]),
    (sd.Type, lambda value: [sd.read_named("t", {"x": value}), sd.null(value)]),
    (sd.TypeVariation, lambda value: [sd.I64(variation=value)]),
    (sd.AnyMessage, lambda value: [sd.AdvancedExtension((value,))]),
    (sd.AdvancedExtension, lambda value: [T.with_extension(value)]),
    ((rl.VirtualTarget, rl.FilesTarget, rl.ExtensionObject), lambda value: [T.write(value)]),
    (sd.DelimitedText, lambda value: [sd.read_files("x", {"x": sd.String}, format=value)]),
    (
        (sd.Parquet, sd.Orc, sd.Arrow, sd.Dwrf, sd.ExtensionFormat),
        lambda value: [sd.read_files("x", OnlyId, format=value)],
    ),
    (sd.FileSlice, lambda value: [sd.read_files(value, OnlyId)]),
    (sd.Computation, lambda value: [T.hint(saved=[value])]),
    (sd.Distribution, lambda value: [sd.read_named("t", OnlyId, distribution=value)]),
    (sd.OrderKey, lambda value: [sd.read_named("t", OnlyId, ordering=value)]),
    (sd.YearMonths, lambda value: [sd.lit(value, sd.IntervalYear)]),
    (sd.DaySeconds, lambda value: [sd.lit(value, sd.IntervalDay(6))]),
    (sd.Compound, lambda value: [sd.lit(value, sd.IntervalCompound(6))]),
    (sd.LambdaFunction, lambda value: [T.select(x=f.transform(sd.col("xs"), value))]),
    (sd.Capabilities, lambda value: [PLAN.check(value)]),
    (sd.FunctionCapability, lambda value: [sd.Capabilities(functions=[value])]),
    (sd.Catalog, lambda value: [sd.Plan.from_bytes(PLAN.to_bytes(), catalog=value).to_bytes()]),
    (OnlyId, lambda value: [T.into(lambda r: value)]),
    (sd.RelationSchema, lambda value: [sd.read_named("t", value), value.to_arrow()]),
    (Iterator, lambda value: [list(value)]),
)
"""What results are for, by their classes: the first class that fits counts."""


def used(value: Any) -> None:
    """Do with a result what it is for, and with what comes out of that."""
    repr(value)
    if not isinstance(value, ExprBase):  # which is no text
        str(value)
    for class_, use in USES:
        if isinstance(value, class_):
            for result in use(value):
                used(result)
            break


SUBJECTS = dict(subjects())


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that good arguments name."""
    monkeypatch.chdir(tmp_path)
    PLAN.save("x.plan")
    Path("small.yaml").write_text("name: Small\n", encoding="utf-8")
    Path("x.yaml").write_text("urn: extension:acme:x\n", encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in SUBJECTS if "__" not in name and not name.endswith(SPARK)])
def test_good_arguments_are_good(name: str) -> None:
    if name in BASES:
        with pytest.raises(InvalidArgumentError):
            call(name, SUBJECTS[name])
    else:
        used(call(name, SUBJECTS[name]))


@pytest.mark.parametrize("name", SUBJECTS)
def test_bad_arguments_get_errors_of_the_tree(name: str) -> None:
    wrong: list[str] = []
    for parameter in inspect.signature(SUBJECTS[name]).parameters.values():
        allowed = [ONLY.get(word) for word in str(parameter.annotation).split(" | ")]
        plain = tuple(kind for kind in allowed if kind is not None)
        for bad in BAD if f"{name}.{parameter.name}" not in INTERNAL else ():
            given = f"{parameter.name}={bad!r}, a {type(bad).__name__}"
            try:
                used(call(name, SUBJECTS[name], {parameter.name: bad}))
            except (SubstraitDslError, OSError):
                continue
            except Exception as error:
                wrong.append(f"{given}: {type(error).__name__}: {error}")
            else:
                fits = isinstance(bad, plain) and (type(bad) is not bool or bool in plain)
                if None not in allowed and not fits and name not in RECORDS:
                    wrong.append(f"{given}: taken, though it wants {parameter.annotation}")
    assert not wrong, "\n".join(wrong)
