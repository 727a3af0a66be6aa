"""Relations from the text of a query in SQL: DataFusion reads the text, and writes the plan that becomes a relation."""
