"""Columns that are not there, or that two columns might be."""

import enum

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items

items.select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select("part", "qantity")
# E: select: there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.select(3)
# E: select: there is no column 3: the relation has 3 columns  [substrait-unknown-field]
items.select(sd.col("prt"))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(lambda i: i.prt)
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(items.c.prt)
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.select(items["prt"])
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.select(Items.prt)
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(total=sd.col("prt") + 1)
# E: select, column "total": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(total=lambda i: i.prt + 1)
# E: select, column "total": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(sd.col(7))
# E: select: there is no column 7: the relation has 3 columns  [substrait-unknown-field]
items.select("part", "part")
# E: select: two columns would be called "part"; give one of them an alias  [substrait-schema]
items.select("part", part=sd.col("order"))
# E: select: two columns would be called "part"; give one of them an alias  [substrait-schema]
items.select(sd.col("part") + 1)
# E: select: the expression has no name; give it one: expression.alias("name"), or name=expression  [substrait-schema]
items.select(lambda i: i.part + 1)
# E: select: the expression has no name; give it one: expression.alias("name"), or name=expression  [substrait-schema]
items.select()
# E: select: expected at least one column  [substrait-invalid-argument]
items.select(lambda i: i["prt"])
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.project(twice=sd.col("qantity") * 2)
# E: project, column "twice": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.project(twice=lambda i: i.qantity * 2)
# E: project, column "twice": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.project(twice=items["qantity"] * 2)
# E: there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.project(part=sd.col("order"))
# E: project: there is a column "part" already; with_columns replaces it  [substrait-schema]
items.project(twice="part")
# E: project, column "twice": expected a column, got the text 'part'; write col('part') for a column, lit('part') for
#    text  [substrait-invalid-argument]
items.project()
# E: project: expected at least one column, as name=expression  [substrait-invalid-argument]
items.with_columns(twice=lambda i: i.qantity * 2)
# E: with_columns, column "twice": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.with_columns(part=sd.col("prt"))
# E: with_columns, column "part": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(text="text")
# E: with_columns, column "text": expected a column, got the text 'text'; write col('text') for a column, lit('text')
#    for text  [substrait-invalid-argument]
items.drop("prt")
# E: drop: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.drop("order", "prt")
# E: drop: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.drop("order", "part", "quantity")
# E: drop: no column would be left  [substrait-schema]
items.rename(prt="product")
# E: rename: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.rename(part="order")
# E: rename: two columns would be called "order"  [substrait-schema]
items.rename(product="part")
# E: rename: there is no column "product"; there are "order", "part", "quantity"; the old name comes first:
#    part="product"  [substrait-unknown-field]

items.rename(lambda name: name + "_right").select("part")
# E: select: there is no column "part"; there are "order_right", "part_right", "quantity_right"; did you mean
#    "part_right"?  [substrait-unknown-field]
items.rename(lambda name: "x")
# E: rename, column "part": two columns would be called "x": this and "order"  [substrait-schema]
items.rename(lambda name: f"i_{name}", part="product")
# E: rename: expected new names by a function, or one by one; "part" stands beside a function; call rename
#    twice  [substrait-invalid-argument]
items.rename({"prt": "product"})
# E: rename: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.emit([0, 3])
# E: emit: there is no column 3: the relation has 3 columns  [substrait-unknown-field]
items.emit(["prt"])
# E: emit: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.filter(sd.col("prt") > 1)
# E: filter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.filter(lambda i: i.prt > 1)
# E: filter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.filter(items.c.prt > 1)
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.filter(items["prt"] > 1)
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.sort("prt")
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort(sd.desc("prt"))
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort("part", lambda i: i.qantity)
# E: sort: there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.sort("part desc")
# E: sort: there is no column "part desc"; there are "order", "part", "quantity"; write
#    desc("part")  [substrait-unknown-field]
items.aggregate("prt", n=f.count())
# E: aggregate: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by("prt").agg(n=f.count())
# E: group_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by("part").agg(total=f.sum(sd.col("qantity")))
# E: agg, measure "total": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.group_by("part").agg(total=lambda i: f.sum(i.qantity))
# E: agg, measure "total": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]

(
    items.filter(lambda i: i.quantity > 3)
    .with_columns(twice=lambda i: i.quantity * 2)
    .select("order", "twice")
    .filter(lambda r: r.twice > 5)
    .filter(lambda r: r.quantity > 5)
    # E: filter: there is no column "quantity"; there are "order", "twice"  [substrait-unknown-field]
    .sort("order")
)
(
    items.rename(part="product")
    .group_by("product")
    .agg(
        n=f.count(),
        total=lambda i: f.sum(i.quantity),
    )
    .with_columns(
        half=lambda r: r.total * 2,
        share=lambda r: r.totl / r.n,
        # E: with_columns, column "share": there is no column "totl"; there are "product", "n", "total"; did you mean
        #    "total"?  [substrait-unknown-field]
    )
    .filter(sd.col("n") > 1)
)
(items.select("order").select("part").select("nothing").filter(sd.col("nothing") > 1))
# E: select: there is no column "part"; there is "order"  [substrait-unknown-field]

# Items of rows; columns of a relation that is an earlier step.

items.c["prt"]
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.c[7]
# E: there is no column 7: the relation has 3 columns  [substrait-unknown-field]
bought = sd.read_named("bought", Items)
late = bought.filter(lambda i: i.quantity > 3)
late.filter(bought.c.part > 1)
# E: filter: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
late.select(bought["part"])
# E: select: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
late.filter(late.c.part > 1)
items.select(*["part", "prt"][:2])
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
added = {"y": sd.col("part")}
items.select(**{"x": sd.col("prt"), **added})
# E: select, column "x": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]


class Name(enum.StrEnum):
    PRT = "prt"


class Position(enum.Enum):
    FIRST = 0


items.sort(Name.PRT)
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.filter(lambda i: i[Name.PRT] == 1)
# E: filter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.filter(sd.col(Name.PRT) == 1)
# E: filter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select(Position.FIRST)
# E: select: expected the name of a column or an expression, got <Position.FIRST: 0>  [substrait-invalid-argument]
sd.Relation.select(items, "prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by("part").agg(most="quantity")
# E: agg: measure "most" must be an aggregate function, got 'quantity'; write a function of that column, for example
#    f.sum(col("quantity"))  [substrait-invalid-argument]
