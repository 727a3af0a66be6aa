"""Small plans that together say everything a plan can say, and random ones: for tests that need a plan of each kind."""

from __future__ import annotations

import functools
from typing import Any

import attrs
from hypothesis import HealthCheck, Phase, given, settings

from examples.tpch.queries import QUERIES
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.common import Common, Computation, Hint, Stats
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.plan import AlgebraPlan, ParameterBinding, Root, Subtree
from substrait_dsl.algebra.properties import OrderKey, Properties, partitioned
from substrait_dsl.algebra.schema import Field, NamedStruct
from tests.proto.plans import T, add, col, equal, gt, i64, outer, plan_of, table
from tests.proto.test_literals import MESSAGES as LITERALS
from tests.trees.relations import plans

FOREIGN = "extension:acme:f"
PACKED = t.TypeVariation("extension:acme:types", "packed")
POINT = t.UserDefined(
    "extension:acme:types",
    "point",
    (None, t.I8(), True, -7, t.EnumParameter("XY"), "text"),
    nullable=True,
    variation=PACKED,
)
ADVICE = AnyMessage("type.example/acme.Advice", b"\x08\x01")
BOTH = AdvancedExtension((ADVICE,), ADVICE)
OPTIONS = (ex.FunctionOption("overflow", ("ERROR", "SILENT")),)
TRUE = literal(True, t.Boolean())
COMMON = Common(
    Hint(
        Stats(10.0, 8.0, BOTH),
        BOTH,
        "alias",
        ("x",),
        (Computation(1, "hashtable", BOTH),),
        (Computation(2, "bloom_filter", BOTH),),
        BOTH,
    ),
    BOTH,
    BOTH,
)
"""All that relations can have in common."""

A, B, S = (col(T, position) for position in range(3))
KEY = ex.SortKey(A, "desc_nulls_last")
CUSTOM_KEY = ex.SortKey(A, ex.FunctionId(FOREIGN, "compare:any_any"))


def foreign(key: str, *arguments: ex.Argument) -> ex.ScalarFunction:
    """A call of a function that nobody knows."""
    return ex.ScalarFunction(ex.FunctionId(FOREIGN, key), arguments, t.Boolean(nullable=True), OPTIONS)


# --- types and literals


def types() -> tuple[t.Type, ...]:
    """Every kind of type, with all that it can say."""
    said: dict[str, Any] = {"nullable": True, "variation": PACKED}
    return (
        t.Unbound(),
        *(kind(**said) for kind in t.SIMPLE_TYPES if kind is not t.Unbound),
        *(kind(6, **said) for kind in t.PRECISION_TYPES),
        *(kind(3, **said) for kind in t.LENGTH_TYPES),
        t.Decimal(9, 2, **said),
        t.List(t.I8(), **said),
        t.Map(t.I8(), t.I8(), **said),
        t.Struct((t.I8(), t.I8()), **said),
        t.Func((t.I8(),), t.I8(), nullable=True),
        POINT,
    )


def literals() -> tuple[ex.Literal, ...]:
    """Literals of every kind of type, one of them with all that a literal says beside its value."""
    point = literal(ADVICE, POINT)
    return (*(literal(value, type_) for value, type_, _ in LITERALS), point)


# --- expressions

PARTS = table(
    "parts",
    struct=t.Struct((t.Struct((t.I64(),)), t.String())),
    list=t.List(t.List(t.I64())),
    map=t.Map(t.String(), t.List(t.I64())),
)


def parts() -> tuple[ex.Expression, ...]:
    """Segments of each kind with further ones inside, and masks."""
    field, element, key = ex.StructField(0), ex.ListElement(1), ex.MapKey(literal("k", t.String()))
    inside: list[tuple[int, ex.Segment, ex.Segment]] = [(0, field, field), (1, element, element), (2, key, element)]
    accesses = [ex.FieldAccess(ex.FieldAccess(col(PARTS, p), first), second) for p, first, second in inside]
    elements = ex.ListMask(2, (3,), ex.ListMask(1))
    mask = ex.StructMask(
        (ex.MaskItem(0, ex.StructMask((ex.MaskItem(0), ex.MaskItem(1)))), ex.MaskItem(1, elements), ex.MaskItem(2))
    )
    masked = ex.MaskedReference(ex.Row(t.Struct(PARTS.schema.types)), mask)
    return (*accesses, masked)


def expressions() -> tuple[ex.Expression, ...]:
    """Every kind of expression over `T`, but for references, literals and subqueries."""
    inner = ex.Lambda((t.I64(),), add(ex.FieldReference(0, t.I64(), ex.LambdaParameter(1)), i64(1)))
    outermost = ex.Lambda((t.I64(),), ex.LambdaInvocation(inner, (i64(2),)))
    return (
        add(A, A),
        foreign("anything:any", A, ex.EnumArgument("FAST"), ex.TypeArgument(t.I64())),
        ex.Cast(A, t.String(nullable=True), "return_null"),
        ex.IfThen((ex.IfClause(TRUE, A),), B),
        ex.Switch(A, (ex.SwitchCase(i64(1), A),), B),
        ex.SingularOrList(A, (i64(1),)),
        ex.MultiOrList((A, S), (ex.OrListRecord((i64(1), S)),)),
        ex.NestedStruct((A, S), True, PACKED),
        ex.NestedList((A, B), True, PACKED),
        ex.NestedMap((ex.MapEntry(S, A),), True, PACKED),
        ex.LambdaInvocation(outermost, (A,)),
        ex.DynamicParameter(t.I64(), 3),
        *(ex.ExecutionContextVariable(variable, _of(kind)) for variable, kind in ex.CONTEXT_VARIABLES.items()),
        ex.FieldAccess(ex.NestedStruct((A,)), ex.StructField(0)),
        ex.WindowFunction(window_call(), (S,), (KEY,)),
        ex.WindowFunction(attrs.evolve(window_call(), lower=ex.UNBOUNDED, upper=ex.CURRENT_ROW), (S,), (KEY,)),
        foreign("map:any_func", A, ex.Lambda((t.I64(),), ex.FieldReference(0, t.I64(), ex.LambdaParameter(0)))),
    )


def _of(kind: type[t.Type]) -> t.Type:
    """A type of a context variable, with all that it can say but for nullability."""
    numbers = (6,) if kind in t.PRECISION_TYPES else ()
    return kind(*numbers, variation=PACKED)


def window_call() -> ex.WindowCall:
    """A call over a frame, with all that it can say."""
    return ex.WindowCall(
        ex.FunctionId(FOREIGN, "rank:any"),
        (A,),
        t.I64(),
        OPTIONS,
        ex.Bound("preceding", i64(2)),
        ex.Bound("following", i64(3)),
        invocation="distinct",
    )


def aggregate_call() -> ex.AggregateFunction:
    """A call of an aggregate function, with all that it can say."""
    return ex.AggregateFunction(
        ex.FunctionId(FOREIGN, "sum:any"), (A,), t.I64(), OPTIONS, (KEY, CUSTOM_KEY), "distinct", "initial_to_result"
    )


def subqueries() -> tuple[ex.Expression, ...]:
    """Every kind of subquery, in a row whose number is 1."""
    one = r.Emit(T, (0,))
    return (
        ex.ScalarSubquery(one),
        ex.InPredicate((A,), one),
        ex.SetPredicate("exists", r.Filter(T, equal(A, outer(1, 0, t.I64())))),
        ex.SetComparison("all", "le", A, one),
    )


def projected(rel: r.Rel, *expressions: ex.Expression) -> r.Project:
    """A project of these expressions."""
    return r.Project(rel, expressions, tuple(f"x{n}" for n in range(len(expressions))), anchor=1)


# --- relations


def reads() -> tuple[r.Rel, ...]:
    """Every kind of read, with all that it can say."""
    schema = NamedStruct((Field("a", t.String()), Field("b", t.String(nullable=True))))
    mask = ex.StructMask((ex.MaskItem(1),))
    ordered = Properties((OrderKey((0,), "asc_nulls_last"),), partitioned((1,)))
    formats: tuple[r.FileFormat, ...] = (
        r.Parquet(),
        r.Arrow(),
        r.Orc(),
        r.Dwrf(),
        r.DelimitedText("|", "'", "^", 1, 99, "NULL"),
        r.ExtensionFormat(ADVICE),
    )
    paths = (*r.PATH_KINDS, *r.PATH_KINDS)
    files = tuple(r.FileItem("x", each, kind, 1, 2, 3) for each, kind in zip(formats, paths, strict=False))
    return (
        r.Read(schema, r.NamedTable(("db", "t"), BOTH), TRUE, TRUE, mask, ordered, (("reader", "fast"),)),
        r.Read(schema, r.LocalFiles(files, BOTH)),
        r.Read(NamedStruct((Field("a", t.I64()),)), r.VirtualTable((r.Record((i64(1),)),))),
        r.Read(schema, r.IcebergTable("metadata.json", snapshot_id="7")),
        r.Read(schema, r.IcebergTable("metadata.json", snapshot_timestamp=1_000_000)),
        r.Read(schema, r.ExtensionTable(ADVICE)),
        r.ExtensionLeaf(ADVICE, schema, ordered),
    )


def rows() -> tuple[r.Rel, ...]:
    """Every kind of relation with one input, with all that it can say."""
    whole = (ex.Measure(aggregate_call(), gt(A, i64(0))),)
    lists = table("l", n=t.I32(), m=t.List(t.I32()))
    targets = (r.ExchangeTarget("http://there", (0, 1)), r.ExchangeTarget(ADVICE))
    kinds = (
        r.Scatter((col(lists, 0),)),
        r.SingleBucket(col(lists, 0)),
        r.MultiBucket(col(lists, 1), constrained=True),
        r.RoundRobin(exact=True),
        r.Broadcast(),
    )
    return (
        r.Filter(T, gt(A, i64(0))),
        r.Sort(T, (KEY, CUSTOM_KEY)),
        r.Fetch(T, i64(1), i64(2)),
        r.TopN(T, (KEY,), i64(1), i64(2), "with_ties"),
        r.Project(T, (A,), ("x",)),
        r.Emit(T, (2, 0)),
        r.Aggregate(T, (A, S), ((0,), (0, 1)), whole, ("a", "s", "n", "set"), "hash"),
        r.Window(T, (window_call(),), (S,), (KEY,), ("w",), "hashing"),
        r.Expand(T, (r.SwitchingField((A, B)), *(r.ConsistentField(S),) * 2), ("a", "s", "t", "i")),
        *(r.Exchange(lists, kind, 4, targets) for kind in kinds),
        r.MergingCapture(T, blocking=True),
        r.SimpleCapture(T),
        r.Unnest(lists, 1),
        r.ExtensionSingle(ADVICE, T.schema, input=T),
    )


def several() -> tuple[r.Rel, ...]:
    """Every kind of relation with several inputs, with all that it can say."""
    both = r.Join(T, T, "inner", TRUE)
    residual = gt(col(both, 0), col(both, 3))
    keys = (r.JoinKey(A, A, "is_not_distinct_from"), r.JoinKey(S, S, ex.FunctionId(FOREIGN, "alike:any_any")))
    return (
        r.Cross(T, T),
        r.Join(T, T, "left", residual, TRUE),
        r.LateralJoin(T, r.Filter(T, gt(A, outer(1, 0, t.I64()))), "left", residual, TRUE, anchor=1),
        r.HashJoin(T, T, "left", keys, residual, TRUE, "left"),
        r.MergeJoin(T, T, "left", keys, residual, TRUE),
        r.NestedLoopJoin(T, T, "left", residual),
        r.Set((T, T), "union_all"),
        r.ExtensionMulti(ADVICE, T.schema, relations=(T, T)),
    )


def changes() -> tuple[r.Rel, ...]:
    """Every relation that changes something, with all that it can say."""
    name = r.NamedObject(("db", "t"), BOTH)
    targets: tuple[r.WriteTarget, ...] = (
        name,
        r.ExtensionObject(ADVICE),
        r.VirtualTarget("t", pin=True),
        r.FilesTarget("file:/x", r.Parquet()),
    )
    defaults = (i64(1), i64(None), literal("x", t.String()))
    return (
        *(r.Write(T, target, T.schema, "ctas", "modified_records", "replace_if_exists") for target in targets),
        r.Update(r.NamedTable(("t",), BOTH), T.schema, gt(A, i64(0)), (r.Transformation(1, i64(1)),)),
        r.Ddl(name, "table", "create", T.schema, defaults),
        r.Ddl(name, "view", "create", T.schema, (), T),
        r.Ddl(r.ExtensionObject(ADVICE), "table", "drop"),
    )


def with_common(rel: r.Rel) -> r.Rel:
    """The relation with all that relations can have in common."""
    if isinstance(rel, r.Emit):
        return rel
    return attrs.evolve(rel, common=COMMON if rel.has_own_extension else attrs.evolve(COMMON, own_extension=None))


# --- plans


def deep() -> r.Rel:
    """Relations that stand apart because they are used twice, and expressions because they are deep."""
    once = r.Filter(r.Cross(*(r.Filter(T, TRUE, shared=True),) * 2), TRUE, shared=True)
    total: ex.Expression = A
    for _ in range(40):
        total = add(total, A)
    return r.Filter(r.Cross(once, once), gt(total, i64(0)))


@functools.cache
def whole() -> tuple[AlgebraPlan, ...]:
    """Plans that together set every field that this library writes."""
    typed = r.Read(NamedStruct(tuple(Field(f"c{n}", type_) for n, type_ in enumerate(types()))), r.NamedTable(("t",)))
    relations = (*reads(), *rows(), *several(), *changes())
    return (
        plan_of(typed),
        plan_of(projected(T, *literals())),
        plan_of(projected(PARTS, *parts())),
        *(plan_of(projected(T, expression)) for expression in (*expressions(), *subqueries())),
        *map(plan_of, relations),
        *(plan_of(with_common(rel)) for rel in relations),
        plan_of(deep()),
        AlgebraPlan(
            (
                Subtree(r.Fetch(T)),
                Root(r.Project(T, (ex.DynamicParameter(t.I64(), 3),), ("asked",)), ("x", "y", "z", "asked")),
            ),
            ("type.example/acme.Advice",),
            (ParameterBinding(3, i64(5)),),
            "per_record",
            BOTH,
        ),
        AlgebraPlan(
            (Root.of(projected(T, ex.Literal(AnyMessage("type.example/acme.Point"), POINT))),),
            type_aliases=(t.List(t.I64()), POINT, t.I64()),
        ),
    )


@functools.cache
def extended() -> tuple[ExtendedExpression, ...]:
    """Extended expressions that together set every field that this library writes."""
    referred = (ExpressionReference(add(A, B), ("x",)), ExpressionReference(aggregate_call(), ("y",)))
    total: ex.Expression = A
    for _ in range(60):
        total = add(total, A)
    return (
        ExtendedExpression(T.schema, referred, ("type.example/acme.Advice",), BOTH),
        ExtendedExpression(T.schema, (ExpressionReference(total, ("deep",)),)),
        ExtendedExpression(T.schema, tuple(ExpressionReference(each, ("x",)) for each in subqueries()), anchor=1),
    )


@functools.cache
def tpch() -> tuple[AlgebraPlan, ...]:
    """The queries of TPC-H."""
    return tuple(plan_of(QUERIES[name]()._rel) for name in sorted(QUERIES))


@functools.cache
def drawn(count: int = 100, depth: int = 2) -> tuple[AlgebraPlan, ...]:
    """Random plans of every kind of node, always the same ones."""
    found: list[AlgebraPlan] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans(depth))
    def collect(rel: r.Rel) -> None:
        found.append(plan_of(rel))

    collect()
    return tuple(found)
