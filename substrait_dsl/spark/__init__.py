"""Running the algebra on Spark: relations become DataFrame methods, expressions fully typed SQL text."""
