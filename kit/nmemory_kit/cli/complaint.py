"""What goes wrong, told to people: one line that says what happened, why, and what to do; and an exit code."""

import os
import sys
import traceback

#: It was done, and the answer is no.
FAILED = 1
#: Wrong usage, or a file or setting that cannot be used.
USAGE = 2
#: The kit could not find out: a target that is not there, a fault of the kit's own.
INCONCLUSIVE = 3
INTERRUPTED = 130
#: What a process that wrote into a closed pipe ends with, as a shell would report it.
BROKEN_PIPE = 141


class Complaint(Exception):
    """A sentence for the user, and the exit code that goes with it."""

    def __init__(self, what: str, remedy: str = "", code: int = USAGE) -> None:
        super().__init__(f"{what}. {remedy}" if remedy else what)
        self.code = code


def complain(error: Exception) -> int:
    """Tell an error on stderr, without a traceback, and answer the exit code.

    An error that nobody foresaw is the kit's own fault and says so; ``NMEMORY_DEBUG=1`` shows where it came from.
    """
    if os.environ.get("NMEMORY_DEBUG"):
        traceback.print_exception(error)
    while isinstance(error, ExceptionGroup):
        # Tasks that failed side by side; the first is the one to tell.
        error = error.exceptions[0]
    complaint = explain(error)
    if complaint is None:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        complaint = Complaint(
            f"a fault of the kit's own: {what}",
            "Please report it, with what NMEMORY_DEBUG=1 prints",
            INCONCLUSIVE,
        )
    say(str(complaint))
    return complaint.code


def say(text: str) -> None:
    """One line to the user on stderr."""
    from ..report.foreign import harmless

    print(f"nmemory: {harmless(text)}", file=sys.stderr)  # noqa: T201


def explain(error: Exception) -> Complaint | None:
    """The complaint that an error of ours amounts to, or None for one that nobody foresaw."""
    from nmemory_reference.errors import CannotServe

    from ..contract.freeze import FrozenError
    from ..contract.pack import PackError
    from ..prove.doubles import ProveError
    from ..run.excuse import ExcuseError
    from ..run.record import RecordError
    from ..run.select import UnknownName
    from ..target.errors import TargetError
    from ..target.reply import Unreachable

    match error:
        case Complaint():
            return error
        case PackError() | ProveError() | ExcuseError() | RecordError() | UnknownName() | TargetError() | CannotServe():
            return Complaint(str(error))
        case FrozenError():
            return Complaint(str(error), code=FAILED)
        case Unreachable():
            return Complaint("; ".join(filter(None, (error.fault.message, error.fault.remedy))), code=INCONCLUSIVE)
        case OSError() if error.filename is not None:
            return Complaint(f"cannot use {os.fsdecode(error.filename)}: {error.strerror}", code=INCONCLUSIVE)
        case _:
            return None
