"""``python -m forkcast`` is the program ``forkcast``."""

import subprocess
import sys

from .program import find_program

sys.exit(subprocess.run([find_program(), *sys.argv[1:]]).returncode)
