"""`python -m flex` is the command `flex-cpu`."""

import sys

from .cli import main

sys.exit(main())
