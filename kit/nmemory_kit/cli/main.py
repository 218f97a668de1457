"""The console script: a command is done, and whatever it raises turned into a line and an exit code.

It imports next to nothing before it is ready for Ctrl-C.
"""

import os
import sys
from collections.abc import Sequence

from .complaint import BROKEN_PIPE, INTERRUPTED, complain, say


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``nmemory`` with these arguments (the process's own by default) and answer the exit code.

    Nothing is raised for what a user, a target or a file does: it ends in a line on stderr. Ctrl-C ends with 130 once
    the children are stopped, a closed pipe silently with 141.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from .app import invoke

        code = invoke(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Python would try to flush what is left at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  (the last line of defence: no traceback for a user)
        return complain(error)
    return code
