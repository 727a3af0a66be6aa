"""Breaks each rule of docs/coverage once, and runs the tests that its row names: ``python -m tests.mutations``.

A rule that can be broken without a test that fails is a row that promises too much. Each break is an edit of the syntax
tree of what the row's `where` names; a process of its own imports the library with that edit, and nothing on the disk
changes.
"""
