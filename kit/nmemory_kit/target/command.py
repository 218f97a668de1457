"""The command that starts a target: its arguments, its environment, and the stores and folders that it is told of."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from .environment import Inherit, child_environment
from .reply import Blame, Fault, FaultKind, Unreachable
from .secrets import secret_arguments, secret_values
from .throwaway import ThrowAwayStores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .connection import Store
    from .secrets import Redactor

#: What becomes the path of a store's file, in an argument or in the value of a variable.
STORE = "{store}"
#: What becomes the path of the folder for files, in an argument or in the value of a variable.
FOLDER = "{folder}"
#: What becomes the number of the port on which a server is to listen.
PORT = "{port}"
#: Programs that run a command where it may not see the files of this machine.
_DOORS = frozenset({"docker", "podman", "nerdctl", "ssh", "kubectl", "lxc", "wsl", "flatpak-spawn", "vagrant"})


def written(command: Sequence[str]) -> str:
    """A command as one text, which splits into the same arguments; no shell sees it, so what is in braces is bare."""
    text = shlex.join(command)
    for word in (STORE, FOLDER, PORT):
        text = text.replace(shlex.quote(word), word)
    return text


class Command:
    """A command as a list of arguments, which never meets a shell, and where it runs.

    ``{store}`` in an argument, or in a value of ``env``, becomes the path of a file, not yet there, in a temporary
    folder: one for each store. Without it the target has the one store that it has, and the kit can neither throw it
    away nor give a fresh one. ``{folder}`` becomes a folder for files, from which the server counts relative paths;
    ``root`` is such a folder that it has anyway. ``env`` is added to the part of the kit's environment that ``inherit``
    chooses. A relative program with a slash in it is looked up in ``cwd``.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        inherit: Inherit = "safe",
        cwd: Path | None = None,
        root: Path | None = None,
    ) -> None:
        self._arguments = tuple(arguments)
        self._added = dict(env or {})
        self._told = (*self._arguments, *self._added.values())
        self._environment = child_environment(inherit, self._added)
        self.cwd = cwd
        # Of what it inherits, only what is named like one: a folder or a host looks random too.
        inherited = secret_values(self._environment, by_looks=False)
        self.secrets = (*secret_values(self._added), *inherited, *secret_arguments(self._arguments))
        self.disposable = self.tells(STORE)
        self.shares_files = root is not None or Path(self._arguments[0]).stem not in _DOORS
        self._root = root
        self._rooted = self.tells(FOLDER)
        self._stores = ThrowAwayStores()

    def __str__(self) -> str:
        return written(self._arguments)

    @property
    def where(self) -> tuple[str, ...]:
        """The folder in which it runs, and the variables that were added."""
        return (str(self.cwd or Path.cwd()), *(f"{name}={value}" for name, value in sorted(self._added.items())))

    @property
    def passed_names(self) -> tuple[str, ...]:
        """The names of the environment variables that the process gets."""
        return tuple(sorted(self._environment))

    @property
    def root(self) -> Path | None:
        """The folder that ``{folder}`` stands for, or the one that was given."""
        return self._stores.files() if self._rooted else self._root

    def tells(self, word: str) -> bool:
        """Whether a word in braces stands in an argument, or in the value of a variable that was added."""
        return any(word in text for text in self._told)

    def fresh_store(self) -> Store | None:
        """A store in a file of its own, or None where nothing tells the target of one."""
        return self._stores.fresh() if self.disposable else None

    def store_file(self, store: Store | None) -> Path | None:
        """The path that ``{store}`` stands for, where it does."""
        return self._stores.path(store) if self.disposable else None

    def filled(self, store: Store | None, **words: str) -> tuple[list[str], dict[str, str]]:
        """The arguments and the environment for a store, with each ``{word}`` replaced."""
        places = {f"{{{word}}}": text for word, text in words.items()}
        places |= {STORE: str(self._stores.path(store))} if self.disposable else {}
        places |= {FOLDER: str(self._stores.files())} if self._rooted else {}

        def fill(text: str) -> str:
            for word, place in places.items():
                text = text.replace(word, place)
            return text

        return [*map(fill, self._arguments)], {name: fill(value) for name, value in self._environment.items()}

    def remove(self) -> None:
        """Remove the stores."""
        self._stores.remove()


class CommandTarget:
    """What targets behind a command have in common: its stores and folders are the kit's to make and to throw away."""

    can_restart = True

    def __init__(self, command: Command) -> None:
        self._command = command
        self.where = command.where
        self.disposable = command.disposable
        self.shares_files = command.shares_files

    @property
    def passed_names(self) -> tuple[str, ...]:
        """The names of the environment variables that the process gets."""
        return self._command.passed_names

    @property
    def root(self) -> Path | None:
        """The folder that ``{folder}`` stands for, or the one that was given."""
        return self._command.root

    def fresh_store(self) -> Store | None:
        """A store in a file of its own, or None where there is no ``{store}``."""
        return self._command.fresh_store()

    def store_file(self, store: Store | None) -> Path | None:
        """The path that ``{store}`` stands for, where it does."""
        return self._command.store_file(store)

    async def close(self) -> None:
        """Remove the stores."""
        self._command.remove()


def not_started(command: Sequence[str], cwd: Path | None, error: Exception, redactor: Redactor) -> Unreachable:
    """A command could not be started: which part of it, and why."""
    program = redactor.text(command[0]) if command else ""
    remedy = "check the spelling, or give the full path of the program"
    match error:
        case FileNotFoundError() if cwd is not None and not cwd.is_dir():
            why, remedy = f"the folder {str(cwd)!r} does not exist", "check `cwd`"
        case FileNotFoundError():
            why = f"no such command: {program!r}"
        case PermissionError() if (cwd or Path()).joinpath(command[0]).is_dir():
            why, remedy = f"{program!r} is a folder", "name the program in it"
        case PermissionError():
            why, remedy = f"{program!r} may not be executed", "check its permissions: chmod +x"
        case OSError():
            why = f"{program!r} cannot be started: {error.strerror or error}"
        case _:
            why, remedy = f"{program!r} cannot be started: {error}", "check the command and the environment"
    return Unreachable(Fault(FaultKind.UNREACHABLE, Blame.TRANSPORT, why, remedy=remedy))
