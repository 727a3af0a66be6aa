"""The pipelines of an operator of an energy grid: code that is right, to sow faults in (tests/typing/team/seeds)."""
