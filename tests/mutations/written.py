"""Breaks that are written down, for rules that an edit of the syntax tree does not break in the way that matters."""

from __future__ import annotations

_MERGED = """                    hint="sort them alike, or use a hash join",
                )

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)
"""
"""Where a merge join derives its schema."""

WRITTEN: dict[str, tuple[str, str, str]] = {
    # the row: the module, a text in it that stands there once, and what stands there instead
    "000:81": ("substrait_dsl.spark.sources.parquet_slices", "default=0)) + size // 2", "default=0))"),
    "003:rule-24": ("substrait_dsl.spark.sources.parquet_slices", "+ size // 2", "+ size // 3"),
    "003:RelCommon.Emit": (
        "substrait_dsl.proto.common",
        "message.emit.output_mapping.extend(mapping)",
        "message.emit.output_mapping.extend(mapping[::-1])",
    ),
    "000:131": (
        "substrait_dsl.algebra.relations.filtering",
        'rules.require_boolean(self.condition.type, "the condition of a filter")',
        "pass",
    ),
    "001:62": (
        "substrait_dsl.algebra.relations.sortedness",
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
        "substrait_dsl.fluent.read_options",
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
        "substrait_dsl.algebra.relations.projection",
        "schema = self.input.schema.pick(self.mapping)",
        "schema = self.input.schema.pick(sorted(self.mapping))",
    ),
    "000:419": (
        "substrait_dsl.algebra.node",
        '_set(self, "properties", self._derive_properties())',
        '_set(self, "properties", NO_PROPERTIES if self.shared else self._derive_properties())',
    ),
    "003:Rel": ("substrait_dsl.proto.relations", '    "top_n": decode_top_n,\n', ""),
    "003:rule-11": (
        "substrait_dsl.proto.literals",
        '(("null", "empty_list", "empty_map"))',
        '(("empty_list", "empty_map"))',
    ),
    "002:67": (
        "substrait_dsl.algebra.relations.physical_joins",
        _MERGED,
        _MERGED.replace("self.left.schema", "self.right.schema"),
    ),
    "002:68": (
        "substrait_dsl.algebra.relations.physical_joins",
        _MERGED,
        _MERGED.replace("self.right.schema", "self.left.schema"),
    ),
    "002:92": ("substrait_dsl.proto.exchange", "message.broadcast.SetInParent()", "message.round_robin.SetInParent()"),
    **{
        f"002:{row}": (
            "substrait_dsl.algebra.node",
            "for child in self._children if isinstance(child, Rel)])",
            "for _ in ()])",
        )
        for row in (172, 194, 258, 278)
    },
    **{
        f"002:{row}": (
            "substrait_dsl.algebra.relations.groups",
            "return rules.aggregate_schema(",
            "return NamedStruct(()) if self else (",
        )
        for row in (173, 195)
    },
    **{
        f"002:{row}": (
            "substrait_dsl.algebra.relations.windows",
            "return NamedStruct.concatenate(self.input.schema, ",
            "return NamedStruct(()) if self else (",
        )
        for row in (259, 279)
    },
    "002:182": ("substrait_dsl.algebra.rules", "    many = len(grouping_sets) > 1\n", "    many = False\n"),
    "002:239": (
        "substrait_dsl.algebra.relations.windows",
        '_set(self, "fields", _duplicate_fields(self.fields))',
        "pass",
    ),
    "004:1": (
        "substrait_dsl.partiql.interpreter",
        'collection_type: CollectionType = "list" if',
        'collection_type: CollectionType = "bag" if',
    ),
    "004:3": ("substrait_dsl.partiql.interpreter", "items = elements(value)", "items = elements(value)[:1]"),
    "004:7": (
        "substrait_dsl.partiql.operations",
        "                return MISSING\n",
        "                return None\n",
    ),
    "004:8": (
        "substrait_dsl.partiql.interpreter",
        'collection_type: CollectionType = "list" if',
        'collection_type: CollectionType = "bag" if',
    ),
    "004:9": (
        "substrait_dsl.partiql.bindings",
        "(self.as_, self.at, self.by) if name is not None",
        "(self.as_, self.at)",
    ),
    "004:15": (
        "substrait_dsl.partiql.tables",
        "Values(e.Id(name), {name: StoredTable(relation, record_id)})",
        'Values(e.Id("t"), {name: StoredTable(relation, record_id)})',
    ),
    "004:19": (
        "substrait_dsl.partiql.interpreter",
        "_bind_variables((unpivot.as_, value), (unpivot.at, name)",
        "_bound((unpivot.as_, name), (unpivot.at, value)",
    ),
    "004:21": ("substrait_dsl.partiql.interpreter", '[: self.number(count, "limit", env)]', ""),
    "004:22": ("substrait_dsl.partiql.interpreter", '[self.number(count, "offset", env) :]', ""),
}
