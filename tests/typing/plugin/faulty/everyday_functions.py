"""The functions for everyday work: units, types and shares."""

from substrait_dsl import everyday as e
from tests.typing.plugin.tables import orders

months = orders.select(month=lambda o: e.date_trunc("MONTH", o.day), key=lambda o: e.md5(o.comment))
months.select("mont")
# E: select: there is no column "mont"; there are "month", "key"; did you mean "month"?  [substrait-unknown-field]
orders.select(x=lambda o: e.date_trunc("MONTHS", o.day))
# E: date_trunc: unknown unit 'MONTHS'; expected one of "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE",
#    "SECOND"; did you mean "MONTH"?  [substrait-invalid-choice]
orders.select(x=lambda o: e.md5(o.id))
# E: select, column "x": no overload takes md5(i64); cast argument 1 from i64 to string  [substrait-function-not-found]
orders.aggregate(x=lambda o: e.percentile(o.weight, 90))
# E: percentile: share is a number from 0 to 1, got 90; 90 per cent are 0.9  [substrait-invalid-argument]
orders.select(x=lambda o: e.to_date(o.comment, "dd/MM/yyyy"))
# E: to_date: format has %Y, %m and %d, each once, and other characters for themselves, got 'dd/MM/yyyy';
#    write "%d/%m/%Y"  [substrait-invalid-argument]
orders.aggregate(x=lambda o: e.approx_percentile(o.weight, 0.5, accuracy=0))
# E: approx_percentile: accuracy is an integer from 1 to 2147483647, got 0  [substrait-invalid-argument]
orders.aggregate(x=lambda o: e.first(o.id))
# E: first: there is no first and no last row without an order; name a key: "day"  [substrait-invalid-argument]
orders.select(x=lambda o: e.get_json(o.comment, "user.name"))
# E: get_json: a path is $, then .name, ['name'] or [0], any number of them, got 'user.name';
#    write "$.user.name"  [substrait-invalid-argument]
orders.select(x=lambda o: e.from_json(o.comment, "date"))
# E: from_json: it reads "boolean", "i16", "i32", "i64", "fp64", "string", "decimal", lists, structs and maps,
#    and not date? ($); declare a string, and cast it  [substrait-invalid-argument]
orders.select(x=lambda o: e.parse_url(o.comment, "host"))
# E: parse_url: unknown part 'host'; expected one of "PROTOCOL", "AUTHORITY", "USERINFO", "HOST", "PORT", "PATH",
#    "QUERY", "FILE", "REF"; did you mean "HOST"?  [substrait-invalid-choice]
