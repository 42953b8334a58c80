"""`python -m flex` is the command `flex-cpu`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
