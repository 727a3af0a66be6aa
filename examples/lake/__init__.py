"""A pipeline from files to an Iceberg table."""
