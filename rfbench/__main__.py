"""python -m rfbench."""

import sys

from rfbench.cli import main

sys.exit(main())
