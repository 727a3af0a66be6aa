"""Programs for type checkers: `plain` ones are right, `faulty` ones say at each line who must object."""
