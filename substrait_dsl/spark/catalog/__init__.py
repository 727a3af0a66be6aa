"""Tables and views by name, from the session's catalog and Spark's plans."""
