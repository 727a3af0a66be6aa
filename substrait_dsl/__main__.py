"""``python -m substrait_dsl``: the command line."""

import sys

from substrait_dsl.cli import main

if __name__ == "__main__":
    sys.exit(main())
