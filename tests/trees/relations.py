"""Random relations of every kind."""

from __future__ import annotations

from itertools import count
from typing import Any

import attrs
from google.protobuf.wrappers_pb2 import StringValue
from hypothesis import strategies as st

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import rules
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.common import COMPUTATION_TYPES, Common, Computation, Hint, Stats
from substrait_dsl.algebra.expressions import AggregateFunction, Measure, SortKey
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.properties import SINGLETON, OrderKey, Properties, partitioned
from substrait_dsl.algebra.schema import Field, NamedStruct
from tests.trees.expressions import FOREIGN, Draw, Row, expressions
from tests.trees.values import KINDS, kinds, literals

Outer = tuple[tuple[int, tuple[t.Type, ...]], ...]

DIRECTIONS = ("asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last", "clustered")
_anchors = count(1)

messages = st.text(max_size=4).map(
    lambda text: AnyMessage(
        "type.googleapis.com/google.protobuf.StringValue", StringValue(value=text).SerializeToString()
    )
)
"""Messages of a type that everybody knows: in JSON there are no others."""
advanced = st.builds(AdvancedExtension, st.lists(messages, max_size=2).map(tuple), st.none() | messages)
hints = st.builds(
    Hint,
    stats=st.none() | st.builds(Stats, st.floats(1, 1e9), st.floats(1, 1e9), st.none() | advanced),
    constraint=st.none() | advanced,
    alias=st.none() | st.text("ab", min_size=1, max_size=3),
    output_names=st.lists(st.text("ab", max_size=3), max_size=2).map(tuple),
    saved=st.lists(st.builds(Computation, st.integers(1, 9), st.sampled_from(COMPUTATION_TYPES)), max_size=1).map(
        tuple
    ),
    loaded=st.lists(st.builds(Computation, st.integers(1, 9), st.sampled_from(COMPUTATION_TYPES)), max_size=1).map(
        tuple
    ),
    extension=st.none() | advanced,
)
commons = st.none() | st.builds(Common, st.none() | hints, st.none() | advanced, st.none() | advanced)

schemas = st.lists(kinds, min_size=1, max_size=4).map(
    lambda types: NamedStruct(tuple(Field(f"c{number}", kind) for number, kind in enumerate(types)))
)


def names(width: int) -> tuple[str, ...]:
    return tuple(f"n{number}" for number in range(width))


@attrs.frozen
class Maker:
    """Draws the parts of one relation.

    `inputs` is a strategy for relations below; None where there are none left.
    """

    draw: Draw
    outer: Outer
    inputs: Any

    def input(self) -> rl.Rel:
        rel: rl.Rel = self.draw(self.inputs(self.outer))
        return rel

    def row(self, *inputs: rl.Rel) -> Row:
        types = tuple(type_ for rel in inputs for type_ in rel.schema.types)
        return Row(types, self.outer, (), self.inputs, next(_anchors))

    def expression(self, type_: t.Type, row: Row) -> ex.Expression:
        made: ex.Expression = self.draw(expressions(type_, row))
        return made

    def some(self, row: Row, most: int = 2) -> tuple[ex.Expression, ...]:
        return tuple(self.expression(self.draw(kinds), row) for _ in range(self.draw(st.integers(1, most))))

    def condition(self, row: Row) -> ex.Expression:
        return self.expression(t.Boolean(nullable=True), row)

    def maybe_condition(self, row: Row) -> ex.Expression | None:
        return self.condition(row) if self.draw(st.booleans()) else None

    def column(self, rel: rl.Rel) -> ex.FieldReference:
        position = self.draw(st.integers(0, len(rel.schema) - 1))
        return ex.FieldReference(position, rel.schema.types[position])

    def sorts(self, row: Row) -> tuple[SortKey, ...]:
        directions = st.sampled_from([*DIRECTIONS, ex.FunctionId(FOREIGN, "compare:any_any")])
        return tuple(SortKey(expression, self.draw(directions)) for expression in self.some(row))

    def keys(self, left: rl.Rel, right: rl.Rel) -> tuple[rl.JoinKey, ...]:
        pairs = [
            (ex.FieldReference(a, mine), ex.FieldReference(b, theirs))
            for a, mine in enumerate(left.schema.types)
            for b, theirs in enumerate(right.schema.types)
            if mine.matches(theirs)
        ]
        if not pairs:
            custom = ex.FunctionId(FOREIGN, "same:any_any")
            return (rl.JoinKey(self.column(left), self.column(right), custom),)
        return tuple(
            rl.JoinKey(mine, theirs, self.draw(st.sampled_from(rl.KEY_COMPARISONS)))
            for mine, theirs in self.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2))
        )

    def number(self, row: Row) -> ex.Expression | None:
        constant = attrs.evolve(row, constant=True)
        some = st.one_of(
            st.none(), st.integers(0, 9).map(lambda n: ex.Literal(n, t.I64())), expressions(t.I64(), constant, 0)
        )
        value: ex.Expression | None = self.draw(
            some.filter(lambda e: not isinstance(e, ex.Literal) or e.value is None or e.value >= 0)
        )
        return value

    def properties(self, schema: NamedStruct) -> Properties:
        position = st.integers(0, len(schema) - 1)
        keys = st.lists(st.builds(OrderKey, position.map(lambda p: (p,)), st.sampled_from(DIRECTIONS)), max_size=2).map(
            tuple
        )
        distribution = st.one_of(st.none(), st.just(SINGLETON), position.map(lambda p: partitioned((p,))))
        made: Properties = self.draw(st.builds(Properties, keys, distribution))
        return made

    def calls(self, row: Row, ranges: bool) -> ex.WindowCall:
        bounds = st.sampled_from(["rows", "range"] if ranges else ["rows"])
        kind = self.draw(bounds)
        bound = st.sampled_from(
            [
                ex.UNBOUNDED,
                ex.CURRENT_ROW,
                ex.Bound("preceding", ex.Literal(2, t.I64())),
                ex.Bound("following", ex.Literal(3, t.I64())),
            ]
        )
        return ex.WindowCall(
            ex.FunctionId(FOREIGN, "window:any"),
            self.some(attrs.evolve(row, relations=None)),
            self.draw(kinds),
            lower=self.draw(bound),
            upper=self.draw(bound),
            bounds_type=kind,
            invocation=self.draw(st.sampled_from(["all", "distinct"])),
        )


# --- leaves


def named_read(make: Maker) -> rl.Rel:
    return _read(
        make, rl.NamedTable(make.draw(st.sampled_from([("t",), ("db", "t")])), make.draw(st.none() | advanced))
    )


def files_read(make: Maker) -> rl.Rel:
    formats = [rl.Parquet(), rl.Arrow(), rl.Orc(), rl.Dwrf(), rl.ExtensionFormat(make.draw(messages))]
    items = tuple(
        rl.FileItem(f"file{n}", make.draw(st.sampled_from(formats)), make.draw(st.sampled_from(rl.PATH_KINDS)), n, n, n)
        for n in range(make.draw(st.integers(1, 2)))
    )
    return _read(make, rl.LocalFiles(items, make.draw(st.none() | advanced)))


def text_read(make: Maker) -> rl.Rel:
    text = rl.DelimitedText(";", "'", "\\", 1, 100, "NULL")
    schema = NamedStruct((Field("a", t.String()), Field("b", t.String(nullable=True))))
    rules = st.sampled_from(rl.HEADER_RULES), st.sampled_from(rl.LINE_BREAKS), st.sampled_from(rl.ENCODINGS)
    reading = make.draw(st.builds(rl.TextReading, *rules))
    return rl.Read(schema, rl.LocalFiles((rl.FileItem("x.csv", text),), text=reading))


def iceberg_read(make: Maker) -> rl.Rel:
    snapshots: list[dict[str, Any]] = [{}, {"snapshot_id": "7"}, {"snapshot_timestamp": 1_000_000}]
    return _read(make, rl.IcebergTable("s3://t/metadata.json", **make.draw(st.sampled_from(snapshots))))


def extension_read(make: Maker) -> rl.Rel:
    return _read(make, rl.ExtensionTable(make.draw(messages)))


def _read(make: Maker, definition: rl.ReadDefinition) -> rl.Rel:
    schema = make.draw(schemas)
    row = Row(schema.types, make.outer, (), make.inputs, next(_anchors))
    kept = make.draw(st.lists(st.integers(0, len(schema) - 1), min_size=1, unique=True))
    mask = make.draw(st.sampled_from([None, ex.StructMask(tuple(ex.MaskItem(position) for position in kept))]))
    pairs = make.draw(st.sampled_from([(), (("reader", "fast"),)]))
    return rl.Read(
        schema,
        definition,
        make.maybe_condition(row),
        make.maybe_condition(row),
        mask,
        make.properties(schema),
        pairs,
        anchor=row.anchor,
    )


def virtual_read(make: Maker) -> rl.Rel:
    schema = make.draw(schemas)
    rows = [
        rl.Record(tuple(make.draw(literals(kind)) for kind in schema.types))
        for _ in range(make.draw(st.integers(0, 2)))
    ]
    return rl.Read(schema, rl.VirtualTable(tuple(rows)))


def extension_leaf(make: Maker) -> rl.Rel:
    schema = make.draw(schemas)
    return rl.ExtensionLeaf(make.draw(messages), schema, make.properties(schema))


def update(make: Maker) -> rl.Rel:
    schema = make.draw(schemas)
    row = Row(schema.types, make.outer, (), make.inputs, next(_anchors))
    position = make.draw(st.integers(0, len(schema) - 1))
    value = make.draw(literals(schema.types[position]))
    return rl.Update(
        rl.NamedTable(("t",)), schema, make.condition(row), (rl.Transformation(position, value),), anchor=row.anchor
    )


def ddl(make: Maker) -> rl.Rel:
    target = make.draw(st.sampled_from([rl.NamedObject(("db", "t")), rl.ExtensionObject(make.draw(messages))]))
    op = make.draw(st.sampled_from(rl.DDL_OPS))
    thing = make.draw(st.sampled_from(rl.DDL_OBJECTS))
    if op in rl.DROPS:
        return rl.Ddl(target, thing, op)
    if thing == "view":
        body = make.draw(make.inputs(())) if make.inputs is not None else virtual_read(make)
        return rl.Ddl(target, thing, op, body.schema, (), body)
    schema = make.draw(schemas)
    defaults = tuple(make.draw(literals(kind.as_nullable())) for kind in schema.types)
    return rl.Ddl(target, thing, op, schema, make.draw(st.sampled_from([(), defaults])))


LEAVES = (
    named_read,
    files_read,
    text_read,
    iceberg_read,
    extension_read,
    virtual_read,
    extension_leaf,
)
LAST = (update, ddl)
"""What only stands at the top of a plan."""


# --- one input


def filter_(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    return rl.Filter(rel, make.condition(row), anchor=row.anchor)


def sort(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    return rl.Sort(rel, make.sorts(row), anchor=row.anchor)


def fetch(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    return rl.Fetch(rel, make.number(row), make.number(row), anchor=row.anchor)


def top_n(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    mode = make.draw(st.sampled_from(rl.FETCH_MODES))
    return rl.TopN(rel, make.sorts(row), make.number(row), make.number(row), mode, anchor=row.anchor)


def project(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    made = list(make.some(row, 3))
    if make.draw(st.booleans()):
        sorts = make.sorts(row)
        made.append(ex.WindowFunction(make.calls(row, ranges=False), make.some(row), sorts))
    return rl.Project(rel, tuple(made), names(len(made)), anchor=row.anchor)


def emit(make: Maker) -> rl.Rel:
    rel = make.input()
    while isinstance(rel, rl.Emit):
        rel = rel.input
    return rl.Emit(rel, tuple(make.draw(st.lists(st.integers(0, len(rel.schema) - 1), min_size=1, max_size=4))))


def aggregate(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    keys = make.some(row, 3)
    position = st.integers(0, len(keys) - 1)
    sets = make.draw(st.lists(st.lists(position, unique=True).map(tuple), min_size=1, max_size=3))
    missing = set(range(len(keys))) - {key for grouping_set in sets for key in grouping_set}
    if missing:
        sets.append(tuple(sorted(missing)))
    measures = tuple(
        Measure(
            AggregateFunction(
                ex.FunctionId(FOREIGN, "aggregate:any"),
                make.some(row),
                make.draw(kinds),
                sorts=make.draw(st.sampled_from([(), make.sorts(row)])),
                invocation=make.draw(st.sampled_from(["all", "distinct"])),
                phase=make.draw(st.sampled_from(["initial_to_result", "initial_to_intermediate"])),
            ),
            make.maybe_condition(row),
        )
        for _ in range(make.draw(st.integers(0, 2)))
    )
    method = make.draw(st.sampled_from(rl.AGGREGATE_METHODS if not rel.properties.ordering else ["any", "hash"]))
    width = len(keys) + len(measures) + (len(sets) > 1)
    return rl.Aggregate(rel, keys, tuple(sets), measures, names(width), method, anchor=row.anchor)


def global_aggregate(make: Maker) -> rl.Rel:
    rel = make.input()
    measure = Measure(AggregateFunction(ex.FunctionId(FOREIGN, "aggregate:"), (), t.I64()))
    return rl.Aggregate(rel, (), (), (measure,), ("n",))


def window(make: Maker) -> rl.Rel:
    rel = make.input()
    row = attrs.evolve(make.row(rel), relations=None)
    method = make.draw(
        st.sampled_from(rl.WINDOW_METHODS if not rel.properties.ordering else ["consistent_partition", "hashing"])
    )
    return rl.Window(rel, (make.calls(row, ranges=False),), make.some(row), make.sorts(row), ("w",), method)


def expand(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    fields: list[rl.ExpandField] = [rl.ConsistentField(expression) for expression in make.some(row)]
    kind = make.draw(st.sampled_from(KINDS))
    duplicates = tuple(make.expression(kind, row) for _ in range(make.draw(st.integers(1, 3))))
    fields.append(rl.SwitchingField(duplicates))
    missing = len(rel.schema) - len(fields)  # fewer fields than columns mean two things (spec decision 2)
    fields += [rl.ConsistentField(ex.Literal(1, t.I64()))] * missing
    return rl.Expand(rel, tuple(fields), names(len(fields) + 1), anchor=row.anchor)


def exchange(make: Maker) -> rl.Rel:
    rel = make.input()
    row = make.row(rel)
    kind: rl.ExchangeKind = make.draw(
        st.sampled_from(
            [
                rl.Scatter((make.column(rel),)),
                rl.SingleBucket(ex.Cast(make.expression(t.I64(), row), t.I32(nullable=True)), make.draw(st.booleans())),
                rl.MultiBucket(ex.NestedList((ex.Literal(1, t.I32()),)), constrained=True),
                rl.RoundRobin(exact=True),
                rl.Broadcast(),
            ]
        )
    )
    targets = (rl.ExchangeTarget("http://there", (0,)), rl.ExchangeTarget(make.draw(messages)))
    return rl.Exchange(rel, kind, 4, make.draw(st.sampled_from([(), targets])), anchor=row.anchor)


def merging_capture(make: Maker) -> rl.Rel:
    return rl.MergingCapture(make.input(), make.draw(st.booleans()))


def simple_capture(make: Maker) -> rl.Rel:
    return rl.SimpleCapture(make.input())


def unnest(make: Maker) -> rl.Rel:
    rel = make.input()
    type_ = t.List(t.I32(nullable=True), nullable=make.draw(st.booleans()))
    lists = make.draw(literals(type_))
    return rl.Unnest(rl.Project(rel, (lists,), ("list",)), len(rel.schema), ("element", "offset"))


def extension_single(make: Maker) -> rl.Rel:
    schema = make.draw(schemas)
    return rl.ExtensionSingle(make.draw(messages), schema, make.properties(schema), input=make.input())


def write(make: Maker) -> rl.Rel:
    rel = make.input()
    names = rel.schema.names
    simple = [field.name for field in rel.schema if isinstance(field.type, t.I32 | t.String) and len(names) > 1]
    folders = [(name,) for name in simple if names.count(name) == 1]
    target = make.draw(
        st.sampled_from(
            [
                rl.NamedObject(("db", "t")),
                rl.ExtensionObject(make.draw(messages)),
                rl.VirtualTarget("t", pin=True),
                rl.FilesTarget("file:/x", rl.Parquet(), make.draw(st.sampled_from([(), *folders]))),
            ]
        )
    )
    op = make.draw(st.sampled_from(rl.WRITE_OPS))
    mode = make.draw(st.sampled_from(rl.CREATE_MODES)) if op == "ctas" else None
    return rl.Write(rel, target, rel.schema, op, make.draw(st.sampled_from(rl.OUTPUT_MODES)), mode)


# --- several inputs


def cross(make: Maker) -> rl.Rel:
    return rl.Cross(make.input(), make.input())


def join(make: Maker) -> rl.Rel:
    left, right = make.input(), make.input()
    row = make.row(left, right)
    how = make.draw(st.sampled_from(rules.JOIN_TYPES))
    bare = rl.Join(left, right, how, make.condition(row), anchor=row.anchor)
    return attrs.evolve(bare, post_filter=make.draw(st.sampled_from([None, _true()])))


def _true() -> ex.Expression:
    return ex.Literal(True, t.Boolean())


def lateral_join(make: Maker) -> rl.Rel:
    left = make.input()
    anchor = next(_anchors)
    right = make.draw(make.inputs((*make.outer, (anchor, left.schema.types))))
    row = Row((*left.schema.types, *right.schema.types), make.outer, (), make.inputs, anchor)
    how = make.draw(st.sampled_from(rules.LATERAL_JOIN_TYPES))
    return rl.LateralJoin(
        left, right, how, make.condition(row), make.draw(st.sampled_from([None, _true()])), anchor=anchor
    )


def hash_join(make: Maker) -> rl.Rel:
    left, right = make.input(), make.input()
    row = make.row(left, right)
    return rl.HashJoin(
        left,
        right,
        make.draw(st.sampled_from(rules.JOIN_TYPES)),
        make.keys(left, right),
        make.maybe_condition(row),
        make.draw(st.sampled_from([None, _true()])),
        make.draw(st.sampled_from(["left", "right"])),
        anchor=row.anchor,
    )


def merge_join(make: Maker) -> rl.Rel:
    left, right = (rl.SimpleCapture(make.input()) for _ in range(2))  # of no known order
    row = make.row(left, right)
    return rl.MergeJoin(
        left,
        right,
        make.draw(st.sampled_from(rules.JOIN_TYPES)),
        make.keys(left, right),
        make.maybe_condition(row),
        make.draw(st.sampled_from([None, _true()])),
        anchor=row.anchor,
    )


def nested_loop_join(make: Maker) -> rl.Rel:
    left, right = make.input(), make.input()
    row = make.row(left, right)
    how = make.draw(st.sampled_from(rules.JOIN_TYPES))
    return rl.NestedLoopJoin(left, right, how, make.maybe_condition(row), anchor=row.anchor)


def set_(make: Maker) -> rl.Rel:
    rel = make.input()
    return rl.Set((rel, *([rel] * make.draw(st.integers(1, 2)))), make.draw(st.sampled_from(rules.SET_OPS)))


def extension_multi(make: Maker) -> rl.Rel:
    schema = make.draw(schemas)
    some = tuple(make.input() for _ in range(make.draw(st.integers(0, 3))))
    return rl.ExtensionMulti(make.draw(messages), schema, make.properties(schema), relations=some)


INNER = (
    filter_,
    sort,
    fetch,
    top_n,
    project,
    emit,
    aggregate,
    global_aggregate,
    window,
    expand,
    exchange,
    merging_capture,
    simple_capture,
    unnest,
    extension_single,
    cross,
    join,
    lateral_join,
    hash_join,
    merge_join,
    nested_loop_join,
    set_,
    extension_multi,
)
TOP = (*INNER, write)


@st.composite
def relations(draw: Draw, outer: Outer = (), depth: int = 2, makers: Any = INNER) -> rl.Rel:
    """A relation with at most so many relations on the way down, inside rows that it may refer to."""
    leaf = depth == 0 or draw(st.integers(0, 3)) == 0

    def inputs(around: Outer) -> Any:
        return relations(around, depth - 1)

    maker = Maker(draw, outer, None if depth == 0 else inputs)
    rel = draw(st.sampled_from(LEAVES if leaf and makers is INNER else makers))(maker)
    if isinstance(rel, rl.Emit):
        return rel
    common = draw(commons)
    if common is not None and not rel.has_own_extension:
        common = attrs.evolve(common, own_extension=None)
    changed: rl.Rel = attrs.evolve(rel, common=common)
    return changed


def plans(depth: int = 3) -> Any:
    """A relation that may also be a write, an update or a data definition."""
    return relations((), depth, (*TOP, *LAST, *LEAVES))


__all__ = ["plans", "relations"]
