"""Tables and views by name: what the session's catalog, and Spark's plan of them, say."""
