"""The verbs of a pipeline, each with random arguments, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from tests.pipelines.expressions import CannotWriteError, rare
from tests.pipelines.parts import Parts
from tests.pipelines.spelling import literal, random_type


class Steps(Parts):
    """Writes the calls of one pipeline, for the relation that it has come to."""

    # --- where pipelines start

    def start(self) -> str:
        """A relation that is made of none."""
        schema = self.schema()
        columns = sd.read_named("t", eval(schema, self.names)).columns
        some = f"[{', '.join(repr(name) for name in columns[::2])}]"
        found = [name for name, value in self.names.items() if isinstance(value, sd.Relation)]
        relation, maker = self.random.choice(found), self.random.choice(("create", "alter"))
        if self.random.random() < 0.6:
            return self.random.choice((relation, f'sd.read_named("t", {schema})'))
        texts = (
            f'sd.read_named(("catalog", "t"), {schema}, columns={some})',
            f'sd.read_named("t", {schema}, filter=lambda r: r[0].is_null(), ordering="{columns[0]}")',
            f'sd.read_files("data/*.parquet", {schema}, kind="glob")',
            f'sd.read_files(["a.csv", sd.FileSlice("b.csv")], {schema}, format="csv", columns={some})',
            f'sd.read_csv("a.csv", {schema}, separator=";")',
            f'sd.read_json("a.jsonl", {schema}, unknown_keys="error")',
            f'sd.read_iceberg("s3://lake/t.json", {schema}, snapshot_id=5)',
            f"sd.read_extension(MESSAGE, {schema})",
            f"sd.extension_leaf(MESSAGE, {schema}, distribution=0)",
            f"sd.extension_multi([{relation}], MESSAGE, {schema})",
            f"sd.read_virtual([], {schema})",
            self._virtual(),
            f'sd.update("t", {schema}, {{"{columns[0]}": lambda r: r[0]}}, where=True)',
            f'sd.{maker}_table("t", {schema})',
            f'sd.{maker}_view(("db", "v"), {relation})',
            'sd.drop_table("t")',
            "sd.drop_view(sd.extension_object(MESSAGE))",
        )
        number = rare(self.random, range(len(texts)), self.used, "start {}".format)
        return texts[number]

    def _virtual(self) -> str:
        kinds = [type_ for type_ in (random_type(self.random) for _ in range(9)) if literal(type_, self.random)]
        rows = [[literal(type_, self.random) or "" for type_ in kinds] for _ in range(2)]
        rows.append([old if not type_.nullable else "None" for type_, old in zip(kinds, rows[0], strict=True)])
        written = ", ".join(f"({', '.join(row)},)" for row in rows)
        return f"sd.read_virtual([{written}], {self.columns_of(kinds)})"

    # --- verbs

    def step(self, verb: str) -> str:
        """The relation after one verb more, as text. Raises `CannotWriteError`."""
        if verb == "shared":
            return f"sd.shared({self.text})"
        if verb == "group_by":
            keys = self.some(self.chosen, 2) if self.random.random() < 0.7 else self.named(self.argument, 2)
            how = self.random.choice(("agg", "agg", "rollup", "cube"))
            grouped = self.held(f"{self.text}.group_by({keys})")
            measures = self.named(self.measure, 2)
            if self.random.random() < 0.3:
                measures = f"{self.aliased(self.measure())}, {measures}"
            return f"{grouped}.{how}({measures})"
        return f"{self.text}.{verb}({VERBS[verb](self)})"

    def join(self, *extras: str) -> str:
        other = self.other()
        how = self.random.choice(JOIN_TYPES)
        common = set(self.relation.columns) & set(self.value(other).columns)
        conditions = [self.condition(other), self.condition(other), "True"]
        conditions += [f'"{name}"' for name in sorted(common)][:2]
        extra = self.random.choice(("", "", *(each for each in extras if "mark=" not in each or "mark" in how)))
        on = self.random.choice(("", "on="))
        return f'{other}, {on}{self.random.choice(conditions)}, {"how=" if on else ""}"{how}"{extra}'

    def joined(self) -> str:
        """A join by a condition, or by names, of which it puts out one column each."""
        other = self.random.choice((self.other, self.like))()
        theirs = {field.name: field.type for field in self.value(other).schema}
        common = [
            f'"{name}"'
            for name, count in Counter((*self.relation.columns, *self.value(other).columns)).items()
            if count == 2 and name in theirs and theirs[name].matches(self.relation.schema[name])
        ]
        if not common or self.random.random() < 0.3:
            return self.join(", post_filter=lambda r: r[0].is_null()", ', mark="found"')
        extra = self.random.choice(("", ", post_filter=lambda r: r[0].is_null()"))
        return f'{other}, using={self.random.choice(common)}, how="{self.random.choice(JOIN_TYPES)}"{extra}'

    def asof_joined(self) -> str:
        other = self.random.choice((self.other, self.like))()
        fields = [(mine, theirs) for mine in self.relation.schema for theirs in self.value(other).schema]
        pairs = [(mine, theirs) for mine, theirs in fields if mine.type.matches(theirs.type)]
        times = [pair for pair in pairs if isinstance(pair[0].type, t.I64 | t.I32 | t.FP64 | t.Date)]
        if not times:
            raise CannotWriteError
        mine, theirs = self.random.choice(times)
        keys = [(left.name, right.name) for left, right in pairs if left is not mine][:1]
        by = self.random.choice(("", f", by={keys}" if keys else ""))
        how = self.random.choice(("left", "inner"))
        direction = self.random.choice(("backward", "forward", "nearest"))
        return f'{other}, on=("{mine.name}", "{theirs.name}"){by}, how="{how}", direction="{direction}"'

    def lateral_join(self) -> str:
        other = self.other()
        how = self.random.choice(LATERAL_JOIN_TYPES)
        right = f"lambda r: {other}.filter(lambda x: x[0] == r[0])"
        if self.random.random() < 0.5:
            right = f"lambda r: {other}.with_columns(outer=lambda _: r[0], {self.name()}=r[-1])"
        on = self.random.choice(("", ", on=lambda a, b: b[0].is_null() | a[-1].is_null()", ", sd.lit(True)"))
        return f'{right}{on}, how="{how}"'

    def keyed_join(self) -> str:
        other = self.other()
        mine, others = self.relation.schema, self.value(other).schema
        pairs = [(a.name, b.name) for a in mine for b in others if a.type.matches(b.type)]
        if not pairs:
            raise CannotWriteError
        left, right = self.random.choice(pairs)
        keys = (f'[("{left}", "{right}")]', f'sd.join_key("{left}", "{right}")', f"lambda a, b: a.{left} == b.{right}")
        how = self.random.choice(JOIN_TYPES)
        residual = self.random.choice(("", ", residual=lambda a, b: a[0].is_not_null() | b[-1].is_null()"))
        return f'{other}, {self.random.choice(keys)}, "{how}"{residual}'

    def sets(self) -> str:
        names = self.relation.columns
        if len(set(names)) < len(names) or self.random.random() < 0.7:
            return self.some(self.like, 2)
        shuffled = self.random.sample(names, len(names))
        return f"{self.text}.select({', '.join(map(repr, shuffled))}), by_name=True"

    def grouped(self) -> str:
        names = [self.column() for _ in range(2)]
        if len(set(names)) < 2 or self.random.random() < 0.5:
            keys = self.some(self.chosen, 2)
            return f"{keys}, {self.named(self.measure, 2)}" if self.random.random() < 0.7 else keys
        a, b = names
        sets = self.random.choice((f'[("{a}", "{b}"), ("{a}",)]', "[(0, 1), ()]", f'[("{b}",), (0,), ()]'))
        return f'"{a}", "{b}", grouping_sets={sets}, {self.named(self.measure, 2)}'

    def expanded(self) -> str:
        def field() -> str:
            expressions = self.expressions()
            piece = expressions.some()
            values = (f"sd.switching({piece.text}, None)", f"sd.switching({piece.text}, {piece.text})", piece.text)
            return expressions.wrapped(self.random.choice(values))

        return self.named(field) + self.random.choice(("", ', index="copy"'))

    def with_columns(self) -> str:
        replaced = [f"{self.column()}={self.argument()}"] if self.random.random() < 0.6 else []
        constant = [f"{self.name()}={literal(random_type(self.random, 0), self.random) or 1}"]
        return ", ".join([*replaced, *self.random.choice(([], constant)), self.named(self.argument, 2)])

    def selected(self) -> str:
        parts = [self.chosen() for _ in range(self.random.randint(0, 3))]
        parts += [self.named(self.argument, 2)] if not parts or self.random.random() < 0.5 else []
        return ", ".join(parts)

    def filled(self) -> str:
        column = self.column()
        value = literal(self.relation.schema[column], self.random)
        if value is None:
            raise CannotWriteError
        return f"{column}={value}"

    def renamed(self) -> str:
        old = self.column()
        functions = ('lambda n: f"{n}_again"', f'lambda n: "{self.name()}" + n', "lambda n: n.upper()")
        each = (f'{old}="{self.name()}"', f'{{"{old}": "{self.name()}"}}', f'{{0: "{self.name()}"}}')
        choices = (*each, self.random.choice(functions))
        return self.random.choice(choices)

    def into(self) -> str:
        expressions = self.expressions(in_lambda=True)
        pieces = {self.name(): expressions.some() for _ in range(self.random.randint(1, 4))}
        name = self.declare([*pieces], [piece.type for piece in pieces.values()])
        fields = ", ".join(f"{column}={piece.text}" for column, piece in pieces.items())
        return expressions.wrapped(f"{name}({fields})")

    def windows(self) -> str:
        order = self.random.choice(("", f", order_by={self.key()}", f', order_by=["{self.column()}"]'))
        return f'partition_by="{self.column()}"{order}, {self.named(self.window_function, 2)}'

    def exchanged(self) -> str:
        kinds = (
            f'sd.scatter("{self.column()}")',
            "sd.single_bucket(sd.lit(1, sd.I32))",
            'sd.multi_bucket(lambda _: sd.lit([1, 2], "list<i32>"), constrained=True)',
            "sd.round_robin()",
            "sd.broadcast()",
        )
        more = ("", ", partition_count=4", ', targets=[sd.exchange_target("tcp://x", 0)]')
        return rare(self.random, kinds, self.used, lambda kind: kind.partition("(")[0]) + self.random.choice(more)

    def written(self) -> str:
        target = self.random.choice(
            ('"copy"', '("db", "copy")', 'sd.virtual_target("copy")', 'sd.files_target("/copy")')
        )
        return target + self.random.choice((', output="modified_records"', ', "ctas"', ', "update"', ""))

    def positions(self) -> str:
        wide = len(self.relation.columns)
        return str([self.random.randrange(wide) for _ in range(self.random.randint(1, 4))])


VERBS: dict[str, Callable[[Steps], str]] = {
    "filter": lambda steps: steps.some(steps.condition, 2),
    "select": Steps.selected,
    "project": lambda steps: steps.named(steps.argument),
    "with_columns": Steps.with_columns,
    "drop": lambda steps: steps.random.choice((f'"{steps.column()}"', "0", "-1")),
    "rename": Steps.renamed,
    "emit": Steps.positions,
    "sort": lambda steps: steps.some(steps.key),
    "fetch": lambda steps: steps.random.choice(("3", "3, 1", "count=2, offset=1", "offset=sd.lit(1)")),
    "limit": lambda _: "5",
    "join": Steps.joined,
    "cross": Steps.other,
    "asof_join": Steps.asof_joined,
    "lateral_join": Steps.lateral_join,
    "hash_join": Steps.keyed_join,
    "merge_join": Steps.keyed_join,
    "nested_loop_join": Steps.join,
    "set_op": lambda steps: f'"{steps.random.choice(SET_OPS)}", {steps.sets()}',
    "union_all": Steps.sets,
    "union": Steps.sets,
    "intersect": Steps.sets,
    "subtract": Steps.sets,
    "distinct": lambda _: "",
    "first_of": lambda steps: f'2, partition_by="{steps.column()}", order_by={steps.key()}',
    "drop_nulls": lambda steps: steps.random.choice(("", f'"{steps.column()}"')),
    "fill_null": Steps.filled,
    "value_counts": lambda steps: f'"{steps.column()}"' + steps.random.choice(("", f', name="{steps.name()}"')),
    "describe": lambda steps: steps.random.choice(("", f'"{steps.column()}", percentiles=[0.5]')),
    "unpivot": lambda steps: f'"{steps.column()}", name="{steps.name()}", value="{steps.name()}"',
    "aggregate": Steps.grouped,
    "window": Steps.windows,
    "expand": Steps.expanded,
    "unnest": lambda steps: f'lambda r: sd.list_of(r[-1], r[-1]), element="{steps.name()}"',
    "exchange": Steps.exchanged,
    "top_n": lambda steps: f"3, {steps.some(steps.key, 2)}" + steps.random.choice(("", ", with_ties=True")),
    "merging_capture": lambda _: "",
    "simple_capture": lambda _: "",
    "hint": lambda _: '1000, alias="x"',
    "with_extension": lambda _: "common=sd.AdvancedExtension((MESSAGE,))",
    "extension_single": lambda steps: f"MESSAGE, {steps.schema()}",
    "write": Steps.written,
    "into": Steps.into,
    "as_": lambda steps: steps.declare(steps.relation.columns, steps.relation.schema.types),
}
"""The arguments of each verb, as text."""

ALL = (*VERBS, "group_by", "shared")
"""Every step that a pipeline may take."""
