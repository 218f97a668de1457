"""What a target lacks for a case, in words that say what its owner could do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def lacking(needs: Iterable[str], capabilities: Collection[str]) -> str | None:
    """Why a case with these needs does not apply to a target with these capabilities, or None where it does.

    A trait that nobody looked for (`observed:`) is told only where nothing else is missing: looking for it needs what
    is told already.
    """
    missing = [need for need in needs if need not in capabilities]
    told = [need for need in missing if not _unseen(need, capabilities)] or missing
    return "; ".join(dict.fromkeys(_words(need, capabilities) for need in told)) or None


def _unseen(need: str, capabilities: Collection[str]) -> bool:
    """Whether a need is a trait of which nothing is known."""
    kind, _, trait = need.partition(":")
    return kind == "observed" and f"observed:{_opposite(trait)}" not in capabilities


def _opposite(trait: str) -> str:
    return trait.removeprefix("no-") if trait.startswith("no-") else f"no-{trait}"


def _words(need: str, capabilities: Collection[str]) -> str:
    kind, _, name = need.partition(":")
    match kind:
        case "synthesize":
            return "expensive calls are not allowed (--synthesize)"
        case "fresh-store":
            return "the kit cannot give it an empty store (`{store}` in its command does)"
        case "second-store" | "store-file":
            return "the kit does not know the file of its store (it does with `{store}` in its command)"
        case "shared-filesystem":
            return "it may not see files of this machine (`folder` in a profile says that it does)"
        case "shared-root":
            return "the kit does not know from where it counts relative paths (`{folder}` in its command or variables)"
        case "client-name":
            return "it cannot know under which name a request is made (it has no sessions)"
        case "restart":
            return "the kit cannot restart it (it can where it starts it by a command)"
        case "http":
            return "it is not reached over HTTP"
        case "token-demanded":
            return "it demands no token"
        case "tool":
            return f"it does not list the tool {name}"
        case "credential":
            return f"no token {name!r} is given (`tokens` in a profile)"
        case "claims":
            return f"{name!r} is not claimed (`claims` in a profile)"
        case "observed" if _unseen(need, capabilities):
            return f"whether it shows {name.removeprefix('no-')!r} could not be found out"
        case "observed":
            return f"it shows {_opposite(name)!r}" if name.startswith("no-") else f"it does not show {name!r}"
        case _ if kind.startswith("seed-"):
            return f"the kit cannot make a {kind.removeprefix('seed-')} in it (`seeds` in a profile)"
        case _:
            return f"it has no {need!r}"
