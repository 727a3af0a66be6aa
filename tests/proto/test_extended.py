"""Extended expressions: their fields, there and back again, and what is refused where it stands."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from substrait.extended_expression_pb2 import ExtendedExpression as Message
from substrait.type_inference import infer_extended_expression_schema

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical_extended
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    LiteralError,
    PlanFormatError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
)
from substrait_dsl.proto.encoder import OuterReferences
from substrait_dsl.proto.extended import (
    decode_extended_expression,
    encode_extended_expression,
    extended_from_bytes,
    extended_from_json,
)
from substrait_dsl.proto.legacy_schema import old_class
from substrait_dsl.proto.levels import MAX_NESTING
from substrait_dsl.proto.plan import to_bytes, to_json
from tests.proto.plans import ARITHMETIC, COMPARISON, T, add, col, equal, gt, i64, message, nesting, outer
from tests.proto.plans import total as sum_of
from tests.support import f, refused
from tests.trees.expressions import Row, expressions
from tests.trees.relations import relations
from tests.trees.values import kinds

POINT = t.Struct.of({"x": t.I8(), "y": t.I8()})
BASE = NamedStruct.of({"a": t.I64(), "b": t.I64(nullable=True), "p": POINT})
a, b, p = (ex.FieldReference(position, kind) for position, kind in enumerate(BASE.types))


def extended(
    *nodes: ex.Expression | ex.AggregateFunction, base: NamedStruct = BASE, **known: Any
) -> ExtendedExpression:
    """These expressions under the names ``c0``, ``c1``; fields of structs are called by their positions."""
    referred = []
    for number, node in enumerate(nodes):
        kind = node.output_type if isinstance(node, ex.AggregateFunction) else node.type
        referred.append(ExpressionReference(node, (f"c{number}", *t.struct_names(kind))))
    return ExtendedExpression(base, tuple(referred), **known)


def comes_back(sent: ExtendedExpression, outer_references: OuterReferences = "rel_reference") -> None:
    """Assert that it is the same, and written the same, after it went through bytes; and nothing is found in it."""
    data = to_bytes(encode_extended_expression(sent, outer_references=outer_references))
    got, findings = extended_from_bytes(data)
    assert findings == ()
    assert canonical_extended(got) == canonical_extended(sent)
    assert got.schema.types == sent.schema.types
    assert to_bytes(encode_extended_expression(got, outer_references=outer_references)) == data


# --- the message


def test_the_message_says_what_the_specification_asks_for() -> None:
    sent = encode_extended_expression(extended(add(a, i64(1)), sum_of(b), p))
    assert sent.version.minor_number > 100
    assert sent.version.producer.startswith("substrait_dsl")
    sent.ClearField("version")
    column = "selection { root_reference {} direct_reference { struct_field %s } }"
    required = "nullability: NULLABILITY_REQUIRED"
    assert sent == message(
        Message,
        f"""
        extension_urns {{ extension_urn_anchor: 1 urn: "{ARITHMETIC}" }}
        extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 1 name: "add:i64_i64" }} }}
        extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 2 name: "sum:i64" }} }}
        referred_expr {{
          expression {{ scalar_function {{
            function_reference: 1 output_type {{ i64 {{ {required} }} }}
            arguments {{ value {{ {column % "{}"} }} }} arguments {{ value {{ literal {{ i64: 1 }} }} }} }} }}
          output_names: "c0"
        }}
        referred_expr {{
          measure {{
            function_reference: 2 output_type {{ i64 {{ nullability: NULLABILITY_NULLABLE }} }}
            phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL
            arguments {{ value {{ {column % "{ field: 1 }"} }} }} }}
          output_names: "c1"
        }}
        referred_expr {{
          expression {{ {column % "{ field: 2 }"} }}
          output_names: "c2" output_names: "x" output_names: "y"
        }}
        base_schema {{
          names: "a" names: "b" names: "p" names: "x" names: "y"
          struct {{ {required}
            types {{ i64 {{ {required} }} }}
            types {{ i64 {{ nullability: NULLABILITY_NULLABLE }} }}
            types {{ struct {{ {required} types {{ i8 {{ {required} }} }} types {{ i8 {{ {required} }} }} }} }}
          }}
        }}
        """,
    )


def test_another_library_derives_the_same_types() -> None:
    ours = sd.ExtendedExpression({"a": sd.I64, "b": "i64?"}, x=lambda r: r.a + r.b, y=lambda r: r.a > 3, z=sd.lit("z"))
    theirs: Any = infer_extended_expression_schema(ours.to_proto())
    own = sd.read_named("t", {field.name: field.type for field in ours.schema}).schema.to_proto()
    assert theirs.types == own.struct.types


# --- there and back again

HINT = AnyMessage("type.example/acme.Hint", b"\x08\x07")
EXISTS = ex.SetPredicate("exists", r.Filter(T, equal(col(T, 0), outer(7, 1, t.I64(nullable=True)))))
DEEP = ex.SetPredicate("exists", r.Filter(T, ex.SetPredicate("exists", r.Filter(T, equal(a, outer(7, 0, t.I64()))))))
NUMBERED = r.Filter(
    T, ex.SetPredicate("exists", r.Filter(T, equal(outer(8, 0, t.I64()), outer(7, 0, t.I64())))), anchor=8
)

KINDS: dict[str, ExtendedExpression] = {
    "a column": extended(a),
    "a struct": extended(p, p),
    "a constant over no columns": extended(i64(5), base=NamedStruct(())),
    "measures": extended(
        sum_of(a),
        ex.AggregateFunction(
            ex.FunctionId("extension:a:b", "f:i64"),
            (a,),
            t.I64(),
            sorts=(ex.SortKey(b, "desc_nulls_last"),),
            invocation="distinct",
        ),
    ),
    "a subquery": extended(ex.SetPredicate("exists", T)),
    "a correlated subquery": extended(gt(a, i64(1)), EXISTS, anchor=7),
    "a subquery in a subquery": extended(DEEP, anchor=7),
    "rows inside and outside": extended(ex.SetPredicate("exists", NUMBERED), anchor=7),
    "a correlated measure": extended(
        ex.AggregateFunction(ex.FunctionId("extension:a:b", "f:bool"), (EXISTS,), t.I64()), anchor=7
    ),
    "extensions": extended(
        a, expected_type_urls=(HINT.type_url,), advanced_extensions=AdvancedExtension((HINT,), HINT)
    ),
    "an anchor that nothing refers to": extended(a, anchor=3),
}


@pytest.mark.parametrize("outer_references", ["rel_reference", "steps_out"])
@pytest.mark.parametrize("sent", KINDS.values(), ids=KINDS)
def test_every_kind_comes_back(sent: ExtendedExpression, outer_references: OuterReferences) -> None:
    comes_back(sent, outer_references)


def test_the_row_has_no_number_and_is_counted_out_to() -> None:
    sent = encode_extended_expression(KINDS["rows inside and outside"])
    inner = sent.referred_expr[0].expression.subquery.set_predicate.tuples.filter.condition.subquery.set_predicate
    inside, outside = (
        argument.value.selection.outer_reference for argument in inner.tuples.filter.condition.scalar_function.arguments
    )
    assert inside.WhichOneof("outer_reference_type") == "rel_reference"
    assert outside.steps_out == 2


def rows(subqueries: bool) -> Any:
    """Rows that random expressions can be about, with what is inside and around."""

    def inputs(around: Any) -> Any:
        return relations(around, 1)

    return st.lists(kinds, min_size=1, max_size=3).map(
        lambda types: Row(tuple(types), relations=inputs if subqueries else None, anchor=10**6 if subqueries else None)
    )


@st.composite
def trees(draw: Any, subqueries: bool) -> ExtendedExpression:
    row = draw(rows(subqueries))
    nodes = [draw(expressions(draw(kinds), row)) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        nodes.append(ex.AggregateFunction(ex.FunctionId("extension:a:b", "f:any"), (nodes[0],), t.I64()))
    base = NamedStruct.of([(f"b{number}", kind) for number, kind in enumerate(row.types)])
    return extended(*nodes, base=base, anchor=row.anchor)


many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(trees(subqueries=True))
def test_any_expressions_come_back_from_bytes(sent: ExtendedExpression) -> None:
    comes_back(sent)


@many
@given(trees(subqueries=False))
def test_any_expressions_come_back_from_json(sent: ExtendedExpression) -> None:
    got, findings = extended_from_json(to_json(encode_extended_expression(sent)))
    assert (got, findings) == (sent, ())


def test_they_are_equal_whatever_the_number_of_the_row() -> None:
    other = ex.SetPredicate("exists", r.Filter(T, equal(col(T, 0), outer(3, 1, t.I64(nullable=True)))))
    assert extended(EXISTS, anchor=7) != extended(other, anchor=3)
    assert canonical_extended(extended(EXISTS, anchor=7)) == canonical_extended(extended(other, anchor=3))
    assert canonical_extended(extended(a, anchor=7)) == extended(a)


# --- depth


@pytest.mark.parametrize("terms", [10, 30, 31, 32, 33, 34, 5000])
def test_expressions_of_any_depth_come_back(terms: int) -> None:
    one: ex.Expression = a
    other: ex.Expression = a
    for number in range(terms):
        one, other = add(one, i64(number)), add(other, i64(number))
    sent = extended(one, sum_of(other))
    assert nesting(encode_extended_expression(sent)) <= MAX_NESTING
    comes_back(sent)


def test_what_would_stand_apart_is_refused() -> None:
    rel: r.Rel = T
    for _ in range(60):
        rel = r.Filter(rel, literal(True, t.Boolean()))
    for tuples in (rel, r.Read(T.schema, r.NamedTable(("t",)), shared=True)):
        with refused(UnsupportedError, "ReferenceRel", "hint: write a plan"):
            encode_extended_expression(extended(ex.SetPredicate("exists", tuples)))


def test_types_that_no_parser_reads_are_refused() -> None:
    kind: t.Type = t.I64()
    for _ in range(14):
        kind = t.List(kind)
    comes_back(extended(i64(1), base=NamedStruct.of({"x": kind})))
    comes_back(extended(ex.FieldReference(0, kind), base=NamedStruct.of({"x": kind})))
    for _ in range(40):
        kind = t.List(kind)
    with refused(UnsupportedError, "nested too deeply"):
        encode_extended_expression(extended(i64(1), base=NamedStruct.of({"x": kind})))
    with refused(UnsupportedError, "nests too deeply"):
        encode_extended_expression(extended(literal(None, kind.as_nullable())))


def test_a_text_that_is_no_unicode_is_refused() -> None:
    with refused(LiteralError, "Unicode"):
        encode_extended_expression(extended(literal("\ud800", t.String())))


# --- what is refused, and where


def changed(text: str = "", *cleared: str, of: ExtendedExpression | None = None) -> Message:
    """A message that says this in addition, without some of its fields."""
    sent = encode_extended_expression(extended(gt(a, i64(1))) if of is None else of)
    for field in cleared:
        sent.ClearField(field)  # type: ignore[arg-type]  # any field of the message
    return Message.FromString(text_format.Merge(text, sent).SerializeToString())


COLUMN = "expression { selection { root_reference {} direct_reference { struct_field { field: %d } } } }"
OUTER = """expression { subquery { set_predicate { predicate_op: PREDICATE_OP_EXISTS tuples { filter {
  input { %s } condition { selection {
    direct_reference { struct_field {} } outer_reference { %s } } } } } } } } output_names: "x" """
READ = 'read { base_schema { struct { nullability: NULLABILITY_REQUIRED } } named_table { names: "t" } }'
WITHIN = "referred_expr[1].expression.subquery.set_predicate.tuples.filter"


@pytest.mark.parametrize(
    ("sent", "said", "path"),
    [
        (changed("", "referred_expr"), "has no expressions", ""),
        (changed("referred_expr {}"), "expression or measure", "referred_expr[1]"),
        (changed("referred_expr { expression {} }"), "an expression is missing", "referred_expr[1].expression"),
        (changed(f"referred_expr {{ {COLUMN % 3} }}"), "no column 3", "referred_expr[1].expression"),
        (changed(f"referred_expr {{ {COLUMN % 0} }}"), "0 names, but its column has 1 fields", "referred_expr[1]"),
        (changed(f'referred_expr {{ {COLUMN % 2} output_names: "p" }}'), "1 names, but its", "referred_expr[1]"),
        (changed("referred_expr { measure {} }"), "function 0", "referred_expr[1].measure"),
        (changed('base_schema { names: "x" }'), "6 names, but its types have 5", "base_schema"),
        (changed("extensions {}"), "declares nothing", "extensions[1]"),
        (
            changed("referred_expr { expression { detached_expression_ordinal: 0 } }"),
            "no detached expression 0",
            "referred_expr[1].expression",
        ),
        (
            changed(
                "referred_expr { expression { detached_expression_ordinal: 0 } }"
                "detached_expressions { detached_expression_ordinal: 0 }"
            ),
            "refers to itself",
            "referred_expr[1].expression",
        ),
        (
            changed(f"referred_expr {{ {OUTER % (READ, 'rel_reference: 1')} }}"),
            "rel_reference 1",
            f"{WITHIN}.condition",
        ),
        (changed(f"referred_expr {{ {OUTER % (READ, 'steps_out: 2')} }}"), "steps_out is 2", f"{WITHIN}.condition"),
        (
            changed(f"referred_expr {{ {OUTER % ('reference {}', 'steps_out: 1')} }}"),
            "no relation 0 to refer to",
            f"{WITHIN}.input",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused_with_the_place(sent: Message, said: str, path: str) -> None:
    with pytest.raises(PlanFormatError) as caught:
        decode_extended_expression(sent)
    assert said in caught.value.message
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("sent", "told", "path"),
    [
        (changed("", "version"), "the extended expression does not say which version", "version"),
        (changed("", "base_schema", of=extended(i64(1))), "there is no base_schema", ""),
        (
            changed("base_schema { struct { nullability: NULLABILITY_UNSPECIFIED } }"),
            "is not REQUIRED",
            "base_schema.struct",
        ),
    ],
)
def test_findings_say_what_was_read_how_and_where(sent: Message, told: str, path: str) -> None:
    if "REQUIRED" in told:
        sent.base_schema.struct.ClearField("nullability")
    _, (finding,) = decode_extended_expression(sent)
    assert told in finding.message
    assert finding.path == path
    with refused(PlanFormatError, told):
        decode_extended_expression(sent, strict=True)


def test_what_the_algebra_refuses() -> None:
    with refused(SchemaError, "at least one expression"):
        ExtendedExpression(BASE, ())
    with refused(SchemaError, "1 names, but its column has 3 fields"):
        ExpressionReference(p, ("p",))
    for anchor in (None, 6):
        with refused(SchemaError, "does not stand inside that relation"):
            extended(EXISTS, anchor=anchor)


# --- of other versions


def old(text: str, version: int = 44) -> Any:
    """An extended expression that holds what the messages of then could."""
    made: Any = old_class(Message)()
    made.version.minor_number = version
    return text_format.Parse(text, made)


OLD = """
  extension_uris { extension_uri_anchor: 1 uri: "/functions_comparison.yaml" }
  extensions { extension_function { extension_uri_reference: 1 function_anchor: 5 name: "gt:any_any" } }
  base_schema { names: "a"
    struct { nullability: NULLABILITY_REQUIRED types { i64 { nullability: NULLABILITY_REQUIRED } } } }
  referred_expr { output_names: "big" expression { scalar_function {
    function_reference: 5 output_type { bool { nullability: NULLABILITY_REQUIRED } }
    args { selection { root_reference {} direct_reference { struct_field {} } } }
    args { literal { i64: 3 } } } } }
"""


def test_old_ones_mean_what_they_meant() -> None:
    then = old(OLD)
    expected = sd.ExtendedExpression({"a": sd.I64}, big=lambda r: r.a > 3)
    assert expected.to_proto().extension_urns[0].urn == COMPARISON
    for read in (
        sd.ExtendedExpression.from_bytes(then.SerializeToString()),
        sd.ExtendedExpression.from_json(json_format.MessageToJson(then)),
    ):
        assert read == expected
        assert str(read.version) == "0.44.0"


def test_what_arrow_writes_is_read() -> None:
    pa, pc = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    substrait = importlib.import_module("pyarrow.substrait")
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    values = [pc.field("a") + pc.field("b"), pc.field("a") > 3]
    read = sd.ExtendedExpression.from_bytes(bytes(substrait.serialize_expressions(values, ["total", "big"], schema)))
    assert [str(field) for field in read.schema] == ["total: i64?", "big: boolean?"]
    assert [str(field) for field in read.base_schema] == ["a: i64?", "b: i64?"]
    assert read.producer is not None
    assert read.producer.startswith("Acero")


def test_a_newer_one_that_cannot_be_read_says_so() -> None:
    newer = "the extended expression is of version 0.900.0 of the specification, and version 0.106.0 is known here"
    with refused(PlanFormatError, "has no expressions", newer):
        sd.ExtendedExpression.from_proto(changed("version { minor_number: 900 }", "referred_expr"))
    with refused(PlanFormatError, "detachedRels", newer):
        sd.ExtendedExpression.from_json('{"version": {"minorNumber": 900}, "detachedRels": []}')
    with refused(PlanFormatError, "the extended expression is of version 1.106.0", "(at version)"):
        sd.ExtendedExpression.from_proto(changed("version { major_number: 1 }"))


# --- the objects that people have


class Orders(sd.Schema):
    price: sd.FP64
    count: sd.I64


def built() -> Any:
    people = sd.read_named("people", {"orders": sd.I64})
    return sd.ExtendedExpression(
        Orders,
        "count",
        lambda o: (o.price * 2.0).alias("twice"),
        lambda o: f.max(o.price).alias("most"),
        known=lambda o: sd.exists(people.filter(lambda q: q.orders == o.count)),
        mean=lambda o: f.avg(o.price),
        one=1,
    )


COLUMNS = ["count: i64", "twice: fp64", "most: fp64?", "known: boolean", "mean: fp64?", "one: i64"]


def test_it_comes_back_from_all_its_forms(tmp_path: Path) -> None:
    made = built()
    assert [str(field) for field in made.schema] == COLUMNS
    assert str(made.base_schema.struct) == "price: fp64, count: i64"
    binary, text = tmp_path / "expressions.pb", tmp_path / "expressions.json"
    made.save(binary)
    made.save(text)
    for read in (
        sd.ExtendedExpression.load(binary),
        sd.ExtendedExpression.load(str(text)),
        sd.ExtendedExpression.from_bytes(made.to_bytes(), strict=True),
        sd.ExtendedExpression.from_json(made.to_json()),
        sd.ExtendedExpression.from_proto(made.to_proto()),
    ):
        assert read == made
        assert hash(read) == hash(made)
        assert read.findings == ()
        assert read.schema == made.schema
    assert made != sd.ExtendedExpression(Orders, "count")
    assert made != sd.read_named("t", Orders).to_plan()


def test_its_expressions_go_on_in_relations_that_have_their_columns() -> None:
    people: Any = sd.read_named("people", {"orders": sd.I64})
    orders: Any = sd.read_named("o", {"id": sd.I64, "count": sd.I64, "note": sd.String, "price": sd.FP64})

    def known(o: Any) -> Any:
        return sd.exists(people.filter(lambda q: q.orders == o.count))

    read = sd.ExtendedExpression.from_bytes(built().to_bytes())
    count, twice, is_known = (read.expression(name) for name in ("count", "twice", "known"))
    who: Any = people.rename(orders="who")
    pairs: list[tuple[Any, Any]] = [
        (
            orders.select("id", count, read.expression(1), two=read.expression("one")),
            orders.select("id", "count", twice=lambda o: o.price * 2.0, two=1),
        ),
        (orders.filter(is_known), orders.filter(known)),
        (
            orders.filter(lambda o: ~is_known | (twice > 1.0)),
            orders.filter(lambda o: ~known(o) | (o.price * 2.0 > 1.0)),
        ),
        (orders.sort(sd.desc(twice)), orders.sort(sd.desc(lambda o: o.price * 2.0))),
        (
            orders.join(who, lambda o, p: (p.who == o.id) & is_known),
            orders.join(who, lambda o, p: (p.who == o.id) & known(o)),
        ),
        (  # the row that it meets is the inner one
            people.filter(sd.exists(orders.filter(is_known))),
            people.filter(lambda p: sd.exists(orders.filter(known))),
        ),
        (
            orders.select(x=f.transform(sd.list_of(1, 2), lambda x: x + count)),
            orders.select(x=lambda o: f.transform(sd.list_of(1, 2), lambda x: x + o.count)),
        ),
    ]
    for got, written in pairs:
        assert got.to_plan() == written.to_plan()
        assert got.columns == written.columns


def test_expressions_over_a_row_as_a_whole_go_on_in_that_row_only() -> None:
    mask = ex.MaskedReference(ex.Row(BASE.row_type()), ex.StructMask((ex.MaskItem(1), ex.MaskItem(0))))
    kept = ExtendedExpression(BASE, (ExpressionReference(mask, ("kept", "b", "a")),))
    read: Any = sd.ExtendedExpression.from_bytes(to_bytes(encode_extended_expression(kept)))
    same_row: Any = sd.read_named("t", BASE).select(read.expression("kept"))
    assert str(same_row.schema["kept"]) == "struct<i64?, i64>"
    with refused(SchemaError, 'select, the expression "kept"', "parts of a whole row of a: i64, b: i64?"):
        sd.read_named("t", BASE).select("b", "a", "p").select(read.expression("kept"))


def test_a_row_that_an_expression_does_not_fit_is_refused() -> None:
    read = sd.ExtendedExpression.from_bytes(built().to_bytes())
    twice = read.expression("twice")
    for schema, error, said in (
        ({"prize": sd.FP64}, UnknownFieldError, 'no column "price"'),
        ({"price": sd.FP32}, TypeMismatchError, 'it is made for a column "price" of fp64, this one is fp32'),
        ({"price": sd.Nullable[sd.FP64]}, TypeMismatchError, 'with_columns(price=col("price").assert_not_null())'),
    ):
        with refused(error, 'select, the expression "twice": ', said):
            sd.read_named("t", schema).select(twice)
    made_for_nullable = sd.ExtendedExpression({"a": "i64?"}, b=lambda r: r.a + 1).expression("b")
    required: Any = sd.read_named("t", {"a": sd.I64})
    with refused(TypeMismatchError, 'with_columns(a=col("a").cast("i64?"))'):
        required.select(made_for_nullable)
    assert str(required.with_columns(a=sd.col("a").cast("i64?")).select(made_for_nullable).schema["b"]) == "i64?"
    both: Any = sd.read_named("t", {"price": sd.FP64})
    with refused(AmbiguousFieldError, 'column "price" is ambiguous'):
        both.join(both, on=True).filter(twice > 1.0)
    with refused(UnsupportedError, 'expression: the column "most" is the aggregate function max'):
        read.expression("most")
    with refused(UnknownFieldError, 'expression: there is no column "twize"', 'did you mean "twice"?'):
        read.expression("twize")


def test_it_is_printed_with_its_subqueries() -> None:
    assert str(built()).splitlines() == [
        "extended expression over columns price: fp64, count: i64",
        "  count: i64",
        "  twice: fp64 = price * 2.0",
        "  most: fp64? = max(price)",
        "  known: boolean = exists (subquery #1)",
        "  mean: fp64? = avg(price)",
        "  one: i64 = 1",
        "  subquery #1: filter orders = outer.count",
        "    read people -> orders: i64",
    ]
    assert repr(built()) == f"ExtendedExpression({', '.join(COLUMNS)})"


@pytest.mark.parametrize("schema", [Orders, {"price": sd.FP64, "count": sd.I64}, sd.read_named("o", Orders)])
def test_the_row_is_that_of_anything_with_columns(schema: Any) -> None:
    made = sd.ExtendedExpression(schema, most=lambda o: f.max(o.price))
    assert made == sd.ExtendedExpression(Orders, f.max(sd.col("price")).alias("most"))


def test_the_columns_of_a_relation_are_those_of_its_row() -> None:
    orders = sd.read_named("o", Orders)
    assert sd.ExtendedExpression(orders, x=orders.c.price) == sd.ExtendedExpression(Orders, x=sd.col("price"))


def test_it_says_what_it_was_built_with() -> None:
    extension = AdvancedExtension((HINT,))
    made = sd.ExtendedExpression(Orders, "count", expected_type_urls=[HINT.type_url], advanced_extensions=extension)
    read = sd.ExtendedExpression.from_bytes(made.to_bytes())
    assert read == made
    assert read.expected_type_urls == (HINT.type_url,)
    assert read.advanced_extensions == extension
    assert (made.version, made.producer) == (None, None)
    with refused(UnsupportedError, "to_json", "acme.Hint"):  # JSON has to know the fields of a message
        made.to_json()


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: sd.ExtendedExpression(Orders), SchemaError, ("at least one expression",)),
        (lambda: sd.ExtendedExpression({}, x=1), SchemaError, ("at least one column",)),
        (lambda: sd.ExtendedExpression(Orders, "count", count=1), SchemaError, ('"count"',)),
        (lambda: sd.ExtendedExpression(Orders, "coutn"), UnknownFieldError, ('did you mean "count"?',)),
        (lambda: sd.ExtendedExpression(Orders, x="count"), InvalidArgumentError, ('column "x"', "col('count')")),
        (lambda: sd.ExtendedExpression(Orders, sd.col("price") * 2.0), SchemaError, ("has no name",)),
        (lambda: sd.ExtendedExpression(Orders, f.max(sd.col("price"))), SchemaError, ("measure max has no name",)),
        (
            lambda: sd.ExtendedExpression(Orders, x=f.max(sd.col("price")).filter(sd.col("count") > 1)),
            InvalidArgumentError,
            ('column "x"', "have no filter", "hint: write max(when(condition)"),
        ),
        (
            lambda: sd.ExtendedExpression(Orders, x=1, expected_type_urls="a"),
            InvalidArgumentError,
            ("expected_type_urls",),
        ),
    ],
)
def test_what_cannot_be_built_is_refused(make: Callable[[], object], error: Any, said: tuple[str, ...]) -> None:
    with refused(error, "ExtendedExpression", *said):
        make()


def test_what_is_no_extended_expression_is_refused() -> None:
    read: Any = sd.ExtendedExpression
    for verb, given_ in [("from_bytes", "text"), ("from_json", b""), ("from_proto", sd.read_named("t", Orders))]:
        with refused(InvalidArgumentError, verb, "expected"):
            getattr(read, verb)(given_)
    with refused(InvalidArgumentError, "a message substrait.ExtendedExpression"):
        read.from_proto(sd.read_named("t", Orders).to_plan().to_proto())


# --- hostile input

BYTES = built().to_bytes()


def survives(data: bytes) -> None:
    with contextlib.suppress(PlanFormatError, UnsupportedError):
        read = sd.ExtendedExpression.from_bytes(data)
        assert sd.ExtendedExpression.from_bytes(read.to_bytes()) == read


def test_one_that_breaks_off_is_refused_or_read() -> None:
    for length in range(len(BYTES)):
        survives(BYTES[:length])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_one_with_wrong_bytes_is_refused_or_read(wrong: list[tuple[int, int]]) -> None:
    data = bytearray(BYTES)
    for position, byte in wrong:
        data[position] = byte
    survives(bytes(data))


def test_a_plan_is_no_extended_expression() -> None:
    with refused(PlanFormatError, "from_bytes"):
        sd.ExtendedExpression.from_bytes(sd.read_named("t", Orders).to_plan().to_bytes())
    with refused(PlanFormatError, "from_bytes"):
        sd.Plan.from_bytes(BYTES)
