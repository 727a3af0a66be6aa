"""Tests of SQL."""
