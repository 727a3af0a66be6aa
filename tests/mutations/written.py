"""Breaks that are written down, for rules that an edit of the syntax tree does not break in the way that matters."""

from __future__ import annotations

WRITTEN: dict[str, tuple[str, str, str]] = {
    # the row: the module, a text in it that stands there once, and what stands there instead
    "000:81": ("substrait_dsl.spark.slices", "default=0)) + size // 2", "default=0))"),
    "003:rule-24": ("substrait_dsl.spark.slices", "+ size // 2", "+ size // 3"),
    "003:RelCommon.Emit": (
        "substrait_dsl.proto.common",
        "message.emit.output_mapping.extend(mapping)",
        "message.emit.output_mapping.extend(mapping[::-1])",
    ),
    "000:131": (
        "substrait_dsl.algebra.relations.rows",
        'rules.require_boolean(self.condition.type, "the condition of a filter")',
        "pass",
    ),
    "001:62": (
        "substrait_dsl.algebra.relations.rows",
        "OrderKey(path, key.direction)",
        'OrderKey(path, "asc_nulls_first")',
    ),
    "001:45": (
        "substrait_dsl.algebra.properties",
        'Distribution("partitioned", frozenset(fields))',
        'Distribution("partitioned", frozenset(fields[:1]))',
    ),
    "000:23": (
        "substrait_dsl.algebra.relations.read",
        'for name in ("filter", "best_effort_filter"):',
        'for name in ("filter",):',
    ),
    "000:22": (
        "substrait_dsl.algebra.relations.read",
        'for name in ("filter", "best_effort_filter"):',
        'for name in ("best_effort_filter",):',
    ),
    "000:41": (
        "substrait_dsl.fluent.reading",
        'Scope("read", (), struct)',
        'Scope("read", (), NamedStruct(tuple(f for f in struct.fields if columns is None or f.name in columns)))',
    ),
    "000:420": (
        "substrait_dsl.fluent.hints",
        "attrs.evolve(rel, shared=True)",
        "attrs.evolve(rl.Emit(rel, ()), shared=True)",
    ),
    "001:5": ("substrait_dsl.proto.plan", "zip(plan.trees, layout.subtrees", "zip(plan.trees[::-1], layout.subtrees"),
    "000:526": (
        "substrait_dsl.algebra.relations.writes",
        "        return NamedStruct(())\n",
        '        return NamedStruct((Field("x", I64()),))\n',
    ),
    "000:487": (
        "substrait_dsl.proto.writes",
        "FilesTarget(item.uri, item.format, tuple(partition_columns))",
        "FilesTarget(item.uri, item.format)",
    ),
    "001:35": (
        "substrait_dsl.algebra.relations.columns",
        "schema = self.input.schema.pick(self.mapping)",
        "schema = self.input.schema.pick(sorted(self.mapping))",
    ),
    "000:419": (
        "substrait_dsl.algebra.node",
        '_set(self, "properties", self._derive_properties())',
        '_set(self, "properties", NO_PROPERTIES if self.shared else self._derive_properties())',
    ),
}
