"""Engines that take plans as bytes: what their sessions hold, and rows and text in the form that they have on Spark."""
