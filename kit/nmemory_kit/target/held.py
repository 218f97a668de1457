"""Files that a running process holds, so that another can tell whether their owner still lives, however it ended.

The operating system lets go of them with the process, also where it is killed. On Windows nobody can tell (`TELLS`).
"""

from __future__ import annotations

import sys
from typing import TextIO

#: Whether this system can say that somebody holds a file; where it cannot, none counts as held.
TELLS = sys.platform != "win32"

if sys.platform != "win32":
    import fcntl


def hold(file: TextIO) -> bool:
    """Hold an open file until it is closed or the process ends; False where another holds it."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
