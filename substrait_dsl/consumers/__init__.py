"""Engines that take plans as bytes: their sessions, and rows and text in the same form as on Spark."""
