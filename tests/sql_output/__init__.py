"""Relations as the text of queries in SQL."""
