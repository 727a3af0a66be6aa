"""Calls whose arguments no parameter takes: the verb, the argument, what there is, and what to write."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import api, partiql
from substrait_dsl.errors import SignatureError
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.hints import receivers, words
from tests.support import f, table

T = table("id: i64, price: decimal<15,2>, name: string?")
PACKAGE: Any = sd
PARTIQL: Any = partiql

MISTAKES: list[tuple[Callable[[], object], str, str]] = [
    (
        lambda: T.sort("id", descending=True),
        'sort: there is no argument "descending"; expected sort(*keys)',
        'sort(desc("x"))',
    ),
    (lambda: T.sort("id", nulls_last=True), "sort:", 'asc("x", nulls="last")'),
    (lambda: T.sort(id="desc"), 'sort: there is no argument "id"', 'sort("x", desc("y"))'),
    (
        lambda: T.distinct("id"),
        "distinct: nothing takes the argument 'id'; expected distinct(",
        'distinct(on=["x", "y"])',
    ),
    (lambda: T.c.id.is_in(1, 2), "is_in: nothing takes the argument 2; expected is_in(options)", "is_in([1, 2, 3])"),
    (lambda: PACKAGE.record(T.c.id).is_in((1,), (2,)), "is_in: nothing takes", "is_in([1, 2, 3])"),
    (lambda: T.write("t", mode="overwrite"), 'write: there is no argument "mode"', "replace_if_exists"),
    (lambda: T.join(T, left_on="id", right_on="id"), 'no argument "left_on", "right_on"', "lambda left, right:"),
    (lambda: T.hash_join(T), 'hash_join: "keys" is missing; expected hash_join(other, keys, how=..., *, residual=', ""),
    (lambda: T.rename("id", "key"), "rename: nothing takes the argument 'key'", 'rename(old="new")'),
    (lambda: T.with_columns("x", 1), "with_columns: nothing takes the argument 'x'", "with_columns(total="),
    (lambda: T.c.id.cast(sd.I32, strict=False), "cast:", 'on_failure="return_null"'),
    (lambda: f.row_number().over(orderby="id"), "expected over(*, partition_by=...", 'did you mean "order_by"?'),
    (lambda: f.sum(T.c.id).over(frame=(0, 1)), 'over: there is no argument "frame"', "rows=(first, last)"),
    (lambda: T.collect(spark=None), 'collect: there is no argument "spark"', "collect(spark), or session=spark"),
    (lambda: T.filter(name="x"), 'filter: there is no argument "name"', "filter(lambda r:"),
    (lambda: f.sum(T.c.id).over(rows_between=(0, 1)), 'over: there is no argument "rows_between"', "such as (None, 0)"),
    (lambda: T.hash_join(T, using="id"), 'hash_join: there is no argument "using"', "join(other, using=...)"),
    (lambda: T.exchange("hash", "id"), "exchange: nothing takes the argument 'id'", 'exchange(scatter("x", ...))'),
    (lambda: T.c.id.desc(nulls_last=True), 'desc: there is no argument "nulls_last"', 'nulls="last"'),
    (lambda: PACKAGE.asc("id", nulls_first=True), 'asc: there is no argument "nulls_first"', 'nulls="first"'),
    (lambda: PACKAGE.broadcast(T), "broadcast: nothing takes the argument", "relation.exchange(broadcast())"),
    (
        lambda: PACKAGE.files_target("x", partition_by="id"),
        'files_target: there is no argument "partition_by"',
        'files_target("out/{x}/{y}", "parquet")',
    ),
    (
        lambda: T.top_n(3, "id", partition_by="name"),
        'top_n: there is no argument "partition_by"',
        "first_of(n, ",
    ),
    (lambda: T.limit(3, offset=2), 'limit: there is no argument "offset"', "fetch(count, offset)"),
    (lambda: T.fetch(3, count=2), 'fetch: "count" is given by position and by name', ""),
    (lambda: T.c.id.alias(), 'alias: "name" is missing; expected alias(name)', ""),
    (lambda: T.to_plan().save(), 'save: "path" is missing', ""),
    (lambda: PACKAGE.Plan.load(), 'load: "path" is missing; expected load(path, *, strict=..., catalog=..., max_', ""),
    (lambda: PACKAGE.Plan(T, names=["x"]), 'Plan: there is no argument "names"; expected Plan(*trees', ""),
    (
        lambda: PACKAGE.read_named("t"),
        'read_named: "schema" is missing; expected read_named(name, schema',
        "nothing is",
    ),
    (lambda: PACKAGE.read_files("x.csv", {"a": "i64"}, sep=";"), 'read_files: there is no argument "sep"', "Delimited"),
    (lambda: PACKAGE.col("id", "name"), "col: nothing takes the argument 'name'", "select(...)"),
    (lambda: PACKAGE.when(T.c.id > 1, 2), "when: nothing takes the argument 2", "when(condition).then(value)"),
    (lambda: PACKAGE.lit(1, dtype=sd.I64), 'lit: there is no argument "dtype"', 'did you mean "type"?'),
    (
        lambda: PACKAGE.DelimitedText(delimiter=";"),
        'DelimitedText: there is no argument "delimiter"',
        "field_delimiter",
    ),
    (lambda: PARTIQL.scan([1]), 'scan: "as_" is missing; expected scan(collection, *, as_', 'as_="x"'),
    (lambda: PARTIQL.unpivot({}, alias="x"), 'unpivot: there is no argument "alias"', 'as_="x"'),
    (lambda: PARTIQL.Scan(), 'Scan: "value", "as_" are missing; expected Scan(value, as_', ""),
    (lambda: PACKAGE.Decimal(15), 'Decimal: "scale" is missing; expected Decimal(precision, scale', ""),
]


@pytest.mark.parametrize(("call", "message", "hint"), MISTAKES)
def test_a_call_that_does_not_fit_says_so(call: Callable[[], object], message: str, hint: str) -> None:
    with pytest.raises(SignatureError) as caught:
        call()
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_what_a_function_says_itself_stands() -> None:
    def broken(row: Any) -> Any:
        return len(row.id, 1)  # type: ignore[call-arg]  # the mistake is that of the function, not of the verb

    with pytest.raises(TypeError, match="len"):
        T.filter(broken)


def test_every_public_verb_says_so() -> None:
    for kind in (sd.Relation, sd.Expr, sd.GroupBy, sd.Measure, sd.WindowFunction, sd.Plan, sd.ExtendedExpression):
        for name in dir(kind):
            member = inspect.getattr_static(kind, name)
            if name.startswith("_") or not isinstance(member, FunctionType):
                continue
            assert inspect.unwrap(member) is not member, f"{kind.__name__}.{name}"
            assert member.__doc__ == inspect.unwrap(member).__doc__
    for package, names in ((sd, api.__all__), (partiql, partiql.__all__)):
        for name in names:
            if isinstance(function := getattr(package, name), FunctionType):
                assert inspect.unwrap(function) is not function, name


def test_the_hints_are_of_verbs_that_do_not_have_such_an_argument() -> None:
    verbs = [receiver.removesuffix("()") for receiver in receivers() if receiver.endswith("()")]
    assert len(verbs) > 30
    for verb in verbs:
        advice = words(f"{verb}()")
        classes = (sd.Relation, sd.Expr, sd.Measure, GroupBy)
        holders = [holder for holder in (sd, partiql, *classes) if hasattr(holder, verb)]
        assert holders, verb
        parameters = inspect.signature(getattr(holders[0], verb)).parameters
        assert not set(advice) & set(parameters), verb
        assert {name[1:] for name in advice if name.startswith("+")} <= set(parameters), verb


def test_classes_are_what_they_were() -> None:
    type_ = sd.Decimal(15, 2)
    assert pickle.loads(pickle.dumps(type_)) == type_ == sd.Decimal(precision=15, scale=2)
    assert pickle.loads(pickle.dumps(sd.read_named)) is sd.read_named
    assert pickle.loads(pickle.dumps(partiql.scan)) is partiql.scan
    assert pickle.loads(pickle.dumps(sd.Relation.filter)) is sd.Relation.filter
    assert list(inspect.signature(sd.read_named).parameters)[:2] == ["name", "schema"]
