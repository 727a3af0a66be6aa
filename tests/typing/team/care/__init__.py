"""The pipelines of a hospital and of the carrier that supplies it."""
