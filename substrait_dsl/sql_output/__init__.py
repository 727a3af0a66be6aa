"""Relations as the text of a query in SQL: trees of sqlglot's, which writes them in a dialect."""
