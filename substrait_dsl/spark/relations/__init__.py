"""Relations as DataFrames and SQL text: joins, groups, sets, subqueries and the output."""
