"""A group of commands that loads each command once it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Knows where its commands are, as ``module:command`` of this package, and lists them in the order it was told."""

    def __init__(self, *arguments: Any, places: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without a command being loaded."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; for a name that is not there all of them, among which click looks for the nearest."""
        for name in (cmd_name,) if cmd_name in self._places else self._places:
            module, _, command = self._places[name].partition(":")
            self.add_command(getattr(import_module(f"{__package__}.{module}"), command), name)
        return super().get_command(ctx, cmd_name)
