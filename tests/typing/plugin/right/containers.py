"""Lists, dicts and sets without annotations that hold relations of different columns: nothing is known of an item."""

from collections import defaultdict, deque
from typing import TypeAlias, assert_type

import substrait_dsl as sd
from tests.typing.plugin.tables import Items, Orders, items, orders

made = [items.select("order")]
made.append(items.select("order").distinct())
sd.reveal_schema(made[0])
# N: Schema is order: i64
made.append(items.select("part"))
assert_type(made, list[sd.Relation])
made += [orders]
made.insert(0, items)
made.extend([orders.select("id"), items])
made[0] = orders.fetch(3)
for each in made:
    each.distinct()

named = {"orders": orders}
named["large"] = orders.filter(lambda o: o.weight > 1.0)
assert_type(named, dict[str, sd.Relation[Orders]])
named["items"] = items.select("part", "quantity")
named.update(all=items)
named.update({"some": items.fetch(1)})
named.setdefault("none", items.fetch(0))
assert_type(named, dict[str, sd.Relation])

empty = []
empty.append(items)
assert_type(empty, list[sd.Relation[Items]])
empty.append(orders)

by_day = defaultdict(list)
by_day["mon"].append(orders)
by_day["tue"].append(items)
queue = deque([orders.select("id")])
queue.append(items)


class Steps:
    def __init__(self) -> None:
        self.steps = [orders.select("id", "customer")]

    def add(self) -> None:
        self.steps.append(items)
        self.steps.append(orders)


Steps().add()


# A type that contains itself.

Nested: TypeAlias = "dict[str, Nested] | list[Nested] | str | sd.Relation"
nested: "list[Nested]" = ["x"]
nested.append(["y", items])
tree: "dict[str, Nested]" = {"a": nested}
tree["b"] = tree
tree.setdefault("c", orders)
