"""Tests of what is said of plans without running them."""
