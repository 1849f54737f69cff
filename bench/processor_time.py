"""rfbench with clocks that count processor time: `processor_time.py experiment=frontier/gaussian`.

For measurements on a machine that does other work too.  With OMP_NUM_THREADS=1 all seconds of the results are those
of one core that has nothing else to do.
"""

import sys
import time

time.perf_counter = time.process_time

from rfbench.cli import main  # noqa: E402  modules take their clock when they are imported

if __name__ == "__main__":
    sys.exit(main())
