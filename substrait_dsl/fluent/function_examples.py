"""Examples of functions: a table of rows, a call, and what it gives. The embedded engine runs each of them."""

from __future__ import annotations

EXAMPLES = {
    # Numbers.
    "add": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.add(r.a, r.b)).collect()
[Row(y=5)]""",
    "subtract": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.subtract(r.a, r.b)).collect()
[Row(y=-1)]""",
    "multiply": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.multiply(r.a, r.b)).collect()
[Row(y=6)]""",
    "divide": """\
>>> rows = sd.read_virtual([(3.0, 2.0)], {"a": "fp64", "b": "fp64"})
>>> rows.select(y=lambda r: f.divide(r.a, r.b)).collect()
[Row(y=1.5)]""",
    "modulus": """\
>>> rows = sd.read_virtual([(7, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.modulus(r.a, r.b)).collect()
[Row(y=1)]""",
    "negate": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.negate(r.a)).collect()
[Row(y=-2)]""",
    "abs": """\
>>> rows = sd.read_virtual([(-2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.abs(r.a)).collect()
[Row(y=2)]""",
    "sign": """\
>>> rows = sd.read_virtual([(-2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.sign(r.a)).collect()
[Row(y=-1)]""",
    "power": """\
>>> rows = sd.read_virtual([(2.0, 10.0)], {"a": "fp64", "b": "fp64"})
>>> rows.select(y=lambda r: f.power(r.a, r.b)).collect()
[Row(y=1024.0)]""",
    "sqrt": """\
>>> rows = sd.read_virtual([(6.25,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.sqrt(r.x)).collect()
[Row(y=2.5)]""",
    "exp": """\
>>> rows = sd.read_virtual([(0.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.exp(r.x)).collect()
[Row(y=1.0)]""",
    "ln": """\
>>> rows = sd.read_virtual([(1.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.ln(r.x)).collect()
[Row(y=0.0)]""",
    "log10": """\
>>> rows = sd.read_virtual([(1000.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.log10(r.x)).collect()
[Row(y=3.0)]""",
    "log2": """\
>>> rows = sd.read_virtual([(8.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.log2(r.x)).collect()
[Row(y=3.0)]""",
    "ceil": """\
>>> rows = sd.read_virtual([(2.25,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.ceil(r.x)).collect()
[Row(y=3.0)]""",
    "floor": """\
>>> rows = sd.read_virtual([(-2.25,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.floor(r.x)).collect()
[Row(y=-3.0)]""",
    "round": """\
>>> rows = sd.read_virtual([(decimal.Decimal("2.37"),)], {"x": "decimal<5,2>"})
>>> rows.select(y=lambda r: f.round(r.x, 1)).collect()
[Row(y=Decimal('2.40'))]""",
    "sin": """\
>>> rows = sd.read_virtual([(0.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.sin(r.x)).collect()
[Row(y=0.0)]""",
    "cos": """\
>>> rows = sd.read_virtual([(0.0,)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.cos(r.x)).collect()
[Row(y=1.0)]""",
    "bitwise_and": """\
>>> rows = sd.read_virtual([(12, 10)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.bitwise_and(r.a, r.b)).collect()
[Row(y=8)]""",
    "bitwise_or": """\
>>> rows = sd.read_virtual([(12, 10)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.bitwise_or(r.a, r.b)).collect()
[Row(y=14)]""",
    "bitwise_xor": """\
>>> rows = sd.read_virtual([(12, 10)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.bitwise_xor(r.a, r.b)).collect()
[Row(y=6)]""",
    "is_nan": """\
>>> rows = sd.read_virtual([(float("nan"),)], {"x": "fp64"})
>>> rows.select(y=lambda r: f.is_nan(r.x)).collect()
[Row(y=True)]""",
    "least": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.least(r.a, r.b)).collect()
[Row(y=2)]""",
    "greatest": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.greatest(r.a, r.b)).collect()
[Row(y=3)]""",
    # Comparisons, and conditions of three values.
    "equal": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.equal(r.a, r.b)).collect()
[Row(y=False)]""",
    "not_equal": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.not_equal(r.a, r.b)).collect()
[Row(y=True)]""",
    "lt": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.lt(r.a, r.b)).collect()
[Row(y=True)]""",
    "lte": """\
>>> rows = sd.read_virtual([(3, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.lte(r.a, r.b)).collect()
[Row(y=True)]""",
    "gt": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.gt(r.a, r.b)).collect()
[Row(y=False)]""",
    "gte": """\
>>> rows = sd.read_virtual([(3, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.gte(r.a, r.b)).collect()
[Row(y=True)]""",
    "between": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.between(r.a, 1, r.b)).collect()
[Row(y=True)]""",
    "is_null": """\
>>> rows = sd.read_virtual([(None,)], {"s": "string?"})
>>> rows.select(y=lambda r: f.is_null(r.s)).collect()
[Row(y=True)]""",
    "is_not_null": """\
>>> rows = sd.read_virtual([(None,)], {"s": "string?"})
>>> rows.select(y=lambda r: f.is_not_null(r.s)).collect()
[Row(y=False)]""",
    "is_distinct_from": """\
>>> rows = sd.read_virtual([(None, None)], {"a": "i64?", "b": "i64?"})
>>> rows.select(y=lambda r: f.is_distinct_from(r.a, r.b)).collect()
[Row(y=False)]""",
    "is_not_distinct_from": """\
>>> rows = sd.read_virtual([(None, None)], {"a": "i64?", "b": "i64?"})
>>> rows.select(y=lambda r: f.is_not_distinct_from(r.a, r.b)).collect()
[Row(y=True)]""",
    "coalesce": """\
>>> rows = sd.read_virtual([(None,)], {"s": "string?"})
>>> rows.select(y=lambda r: f.coalesce(r.s, "none")).collect()
[Row(y='none')]""",
    "nullif": """\
>>> rows = sd.read_virtual([(3, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.nullif(r.a, r.b)).collect()
[Row(y=None)]""",
    "is_true": """\
>>> rows = sd.read_virtual([(True, None)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.is_true(r.b)).collect()
[Row(y=False)]""",
    "is_false": """\
>>> rows = sd.read_virtual([(True, None)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.is_false(r.b)).collect()
[Row(y=False)]""",
    "and": """\
>>> rows = sd.read_virtual([(False, None)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.and_(r.a, r.b)).collect()
[Row(y=False)]""",
    "or": """\
>>> rows = sd.read_virtual([(True, None)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.or_(r.a, r.b)).collect()
[Row(y=True)]""",
    "not": """\
>>> rows = sd.read_virtual([(True, None)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.not_(r.a)).collect()
[Row(y=False)]""",
    "xor": """\
>>> rows = sd.read_virtual([(True, True)], {"a": "boolean?", "b": "boolean?"})
>>> rows.select(y=lambda r: f.xor(r.a, r.b)).collect()
[Row(y=False)]""",
    # Texts.
    "concat": """\
>>> rows = sd.read_virtual([("Ada",)], {"s": "string"})
>>> rows.select(y=lambda r: f.concat(r.s, " L.")).collect()
[Row(y='Ada L.')]""",
    "concat_ws": """\
>>> rows = sd.read_virtual([("x", "y")], {"a": "string", "b": "string"})
>>> rows.select(y=lambda r: f.concat_ws("-", r.a, r.b)).collect()
[Row(y='x-y')]""",
    "lower": """\
>>> rows = sd.read_virtual([("Ada",)], {"s": "string"})
>>> rows.select(y=lambda r: f.lower(r.s)).collect()
[Row(y='ada')]""",
    "upper": """\
>>> rows = sd.read_virtual([("Ada",)], {"s": "string"})
>>> rows.select(y=lambda r: f.upper(r.s)).collect()
[Row(y='ADA')]""",
    "trim": """\
>>> rows = sd.read_virtual([("  Ada ",)], {"s": "string"})
>>> rows.select(y=lambda r: f.trim(r.s, " ")).collect()
[Row(y='Ada')]""",
    "ltrim": """\
>>> rows = sd.read_virtual([("  Ada ",)], {"s": "string"})
>>> rows.select(y=lambda r: f.ltrim(r.s, " ")).collect()
[Row(y='Ada ')]""",
    "rtrim": """\
>>> rows = sd.read_virtual([("  Ada ",)], {"s": "string"})
>>> rows.select(y=lambda r: f.rtrim(r.s, " ")).collect()
[Row(y='  Ada')]""",
    "lpad": """\
>>> rows = sd.read_virtual([("7",)], {"s": "string"})
>>> rows.select(y=lambda r: f.lpad(r.s, 3, "0")).collect()
[Row(y='007')]""",
    "rpad": """\
>>> rows = sd.read_virtual([("7",)], {"s": "string"})
>>> rows.select(y=lambda r: f.rpad(r.s, 3, ".")).collect()
[Row(y='7..')]""",
    "left": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.left(r.s, 4)).collect()
[Row(y='Love')]""",
    "right": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.right(r.s, 4)).collect()
[Row(y='lace')]""",
    "substring": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.substring(r.s, 5, 2)).collect()
[Row(y='la')]""",
    "char_length": """\
>>> rows = sd.read_virtual([("naïve",)], {"s": "string"})
>>> rows.select(y=lambda r: f.char_length(r.s)).collect()
[Row(y=5)]""",
    "octet_length": """\
>>> rows = sd.read_virtual([("naïve",)], {"s": "string"})
>>> rows.select(y=lambda r: f.octet_length(r.s)).collect()
[Row(y=6)]""",
    "like": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.like(r.s, "Love%")).collect()
[Row(y=True)]""",
    "starts_with": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.starts_with(r.s, "Love")).collect()
[Row(y=True)]""",
    "ends_with": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.ends_with(r.s, "lace")).collect()
[Row(y=True)]""",
    "contains": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.contains(r.s, "vel")).collect()
[Row(y=True)]""",
    "strpos": """\
>>> rows = sd.read_virtual([("Lovelace",)], {"s": "string"})
>>> rows.select(y=lambda r: f.strpos(r.s, "vel")).collect()
[Row(y=3)]""",
    "replace": """\
>>> rows = sd.read_virtual([("a-b-c",)], {"s": "string"})
>>> rows.select(y=lambda r: f.replace(r.s, "-", "+")).collect()
[Row(y='a+b+c')]""",
    "reverse": """\
>>> rows = sd.read_virtual([("abc",)], {"s": "string"})
>>> rows.select(y=lambda r: f.reverse(r.s)).collect()
[Row(y='cba')]""",
    "repeat": """\
>>> rows = sd.read_virtual([("ab",)], {"s": "string"})
>>> rows.select(y=lambda r: f.repeat(r.s, 3)).collect()
[Row(y='ababab')]""",
    "count_substring": """\
>>> rows = sd.read_virtual([("banana",)], {"s": "string"})
>>> rows.select(y=lambda r: f.count_substring(r.s, "an")).collect()
[Row(y=2)]""",
    "string_split": """\
>>> rows = sd.read_virtual([("a,b",)], {"s": "string"})
>>> rows.select(y=lambda r: f.string_split(r.s, ",")).collect()
[Row(y=['a', 'b'])]""",
    "regexp_replace": """\
>>> rows = sd.read_virtual([("a1b22",)], {"s": "string"})
>>> rows.select(y=lambda r: f.regexp_replace(r.s, "[0-9]+", "#")).collect()
[Row(y='a#b#')]""",
    "regexp_match_substring": """\
>>> rows = sd.read_virtual([("a1b22",)], {"s": "string"})
>>> rows.select(y=lambda r: f.regexp_match_substring(r.s, "[0-9]+")).collect()
[Row(y='1')]""",
    "regexp_count_substring": """\
>>> rows = sd.read_virtual([("a1b22",)], {"s": "string"})
>>> rows.select(y=lambda r: f.regexp_count_substring(r.s, "[0-9]+")).collect()
[Row(y=2)]""",
    # Dates and times.
    "extract": """\
>>> rows = sd.read_virtual([(dt.date(2024, 5, 31),)], {"day": "date"})
>>> rows.select(y=lambda r: f.extract("YEAR", r.day)).collect()
[Row(y=2024)]""",
    "strftime": """\
>>> rows = sd.read_virtual([(dt.date(2024, 5, 31),)], {"day": "date"})
>>> rows.select(y=lambda r: f.strftime(r.day, "%d.%m.%Y")).collect()
[Row(y='31.05.2024')]""",
    "add_intervals": """\
>>> rows = sd.read_virtual([(dt.timedelta(1), dt.timedelta(2))], {"a": "interval_day<6>", "b": "interval_day<6>"})
>>> rows.select(y=lambda r: f.add_intervals(r.a, r.b)).collect()
[Row(y=datetime.timedelta(days=3))]""",
    # Lists.
    "cardinality": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.cardinality(r.xs)).collect()
[Row(y=3)]""",
    "sort": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.sort(r.xs)).collect()
[Row(y=[1, 2, 3])]""",
    "transform": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.transform(r.xs, lambda x: x * 10)).collect()
[Row(y=[30, 10, 20])]""",
    "filter": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.filter(r.xs, lambda x: x > 1)).collect()
[Row(y=[3, 2])]""",
    "any_match": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.any_match(r.xs, lambda x: x > 2)).collect()
[Row(y=True)]""",
    "all_match": """\
>>> rows = sd.read_virtual([([3, 1, 2],)], {"xs": "list<i64>"})
>>> rows.select(y=lambda r: f.all_match(r.xs, lambda x: x > 2)).collect()
[Row(y=False)]""",
    "index_in": """\
>>> rows = sd.read_virtual([(2, 3)], {"a": "i64", "b": "i64"})
>>> rows.select(y=lambda r: f.index_in(r.a, [4, 2])).collect()
[Row(y=1)]""",
    # Aggregates.
    "sum": """\
>>> rows = sd.read_virtual([(1,), (2,), (4,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.sum(r.n)).collect()
[Row(y=7)]""",
    "sum0": """\
>>> rows = sd.read_virtual([(None,)], {"n": "i64?"})
>>> rows.aggregate(y=lambda r: f.sum0(r.n)).collect()
[Row(y=0)]""",
    "count": """\
>>> rows = sd.read_virtual([(1,), (None,), (4,)], {"n": "i64?"})
>>> rows.aggregate(y=lambda r: f.count(r.n)).collect()
[Row(y=2)]""",
    "avg": """\
>>> rows = sd.read_virtual([(1.0,), (2.0,), (4.5,)], {"x": "fp64"})
>>> rows.aggregate(y=lambda r: f.avg(r.x)).collect()
[Row(y=2.5)]""",
    "min": """\
>>> rows = sd.read_virtual([(1,), (2,), (4,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.min(r.n)).collect()
[Row(y=1)]""",
    "max": """\
>>> rows = sd.read_virtual([(1,), (2,), (4,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.max(r.n)).collect()
[Row(y=4)]""",
    "median": """\
>>> rows = sd.read_virtual([(1.0,), (2.0,), (9.0,)], {"x": "fp64"})
>>> rows.aggregate(y=lambda r: f.median("EXACT", r.x)).collect()
[Row(y=2.0)]""",
    "mode": """\
>>> rows = sd.read_virtual([(1,), (2,), (2,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.mode(r.n)).collect()
[Row(y=2)]""",
    "std_dev": """\
>>> rows = sd.read_virtual([(2.0,), (4.0,), (6.0,)], {"x": "fp64"})
>>> rows.aggregate(y=lambda r: f.std_dev(r.x, distribution="SAMPLE")).collect()
[Row(y=2.0)]""",
    "variance": """\
>>> rows = sd.read_virtual([(2.0,), (4.0,), (6.0,)], {"x": "fp64"})
>>> rows.aggregate(y=lambda r: f.variance(r.x, distribution="SAMPLE")).collect()
[Row(y=4.0)]""",
    "any_value": """\
>>> rows = sd.read_virtual([(3,), (3,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.any_value(r.n)).collect()
[Row(y=3)]""",
    "approx_count_distinct": """\
>>> rows = sd.read_virtual([(3,), (3,), (5,)], {"n": "i64"})
>>> rows.aggregate(y=lambda r: f.approx_count_distinct(r.n)).collect()
[Row(y=2)]""",
    "bool_and": """\
>>> rows = sd.read_virtual([(True,), (False,)], {"b": "boolean"})
>>> rows.aggregate(y=lambda r: f.bool_and(r.b)).collect()
[Row(y=False)]""",
    "bool_or": """\
>>> rows = sd.read_virtual([(True,), (False,)], {"b": "boolean"})
>>> rows.aggregate(y=lambda r: f.bool_or(r.b)).collect()
[Row(y=True)]""",
    "string_agg": """\
>>> rows = sd.read_virtual([("a",), ("b",)], {"s": "string"})
>>> rows.aggregate(y=lambda r: f.string_agg(r.s, ",").order_by("s")).collect()
[Row(y='a,b')]""",
    "corr": """\
>>> rows = sd.read_virtual([(1.0, 2.0), (2.0, 4.0)], {"x": "fp64", "y": "fp64"})
>>> rows.aggregate(y=lambda r: f.corr(r.x, r.y)).collect()
[Row(y=1.0)]""",
    # Windows.
    "row_number": """\
>>> rows = sd.read_virtual([(10,), (20,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.row_number().over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[1, 2, 3]""",
    "rank": """\
>>> rows = sd.read_virtual([(10,), (10,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.rank().over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[1, 1, 3]""",
    "dense_rank": """\
>>> rows = sd.read_virtual([(10,), (10,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.dense_rank().over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[1, 1, 2]""",
    "percent_rank": """\
>>> rows = sd.read_virtual([(10,), (20,), (30,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.percent_rank().over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[0.0, 0.5, 1.0]""",
    "cume_dist": """\
>>> rows = sd.read_virtual([(10,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.cume_dist().over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[0.5, 1.0]""",
    "ntile": """\
>>> rows = sd.read_virtual([(10,), (20,), (30,), (40,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.ntile(2).over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[1, 1, 2, 2]""",
    "lag": """\
>>> rows = sd.read_virtual([(10,), (20,), (30,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.lag(r.n, 1).over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[None, 10, 20]""",
    "lead": """\
>>> rows = sd.read_virtual([(10,), (20,), (30,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.lead(r.n, 1).over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[20, 30, None]""",
    "first_value": """\
>>> rows = sd.read_virtual([(10,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.first_value(r.n).over(order_by="n"))
>>> [row.y for row in windowed.sort("n").collect()]
[10, 10]""",
    "last_value": """\
>>> rows = sd.read_virtual([(10,), (20,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.last_value(r.n).over(order_by="n", rows=(None, None)))
>>> [row.y for row in windowed.sort("n").collect()]
[20, 20]""",
    "nth_value": """\
>>> rows = sd.read_virtual([(10,), (20,), (30,)], {"n": "i64"})
>>> windowed = rows.with_columns(y=lambda r: f.nth_value(r.n, 2).over(order_by="n", rows=(None, None)))
>>> [row.y for row in windowed.sort("n").collect()]
[20, 20, 20]""",
}
"""By the name of a function of the specification."""
