"""YAML with the line of every value, so that each mistake in a profile can be pointed at."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import ProfileError

if TYPE_CHECKING:
    import yaml

#: A profile is a page of text. What is larger is another file.
_LARGEST = 1024 * 1024

_REMEDY = {
    "mapping": "write `key: value` lines under it",
    "list": "write `- item` lines under it, or [item, item]",
    "text": "write one text",
    "yes or no": "write true or false",
    "number of seconds": "write a number greater than 0, such as 30",
}


class Node:
    """One value of the file, with the place where it stands and the name by which people know it."""

    def __init__(self, file: str, name: str, node: yaml.Node, value: Any) -> None:
        self._file = file
        self._name = name
        self._node = node
        self._value = value

    @property
    def line(self) -> int:
        """Where it stands in the file, from 1."""
        return int(self._node.start_mark.line) + 1

    def error(self, what: str, remedy: str) -> ProfileError:
        """An error that points at this value."""
        return ProfileError(self._file, self.line, what, remedy)

    def entries(self, known: Iterable[str], *, refused: Mapping[str, str] | None = None) -> dict[str, Node]:
        """The entries of a mapping whose keys are all ``known``; a ``refused`` one is an error with its remedy."""
        names = list(known)
        found: dict[str, Node] = {}
        for key, value in self.pairs():
            if refused and key in refused:
                raise value.error(f"`{key}` may not stand in the file, where everybody reads it", refused[key])
            if key not in names:
                near = difflib.get_close_matches(key, names, n=1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise value.error(f"unknown key {key!r}{hint}", f"the keys here are {', '.join(sorted(names))}")
            found[key] = value
        return found

    def pairs(self) -> Iterator[tuple[str, Node]]:
        """The entries of a mapping with any keys, in order; a key that comes twice is an error."""
        import yaml

        if not isinstance(self._node, yaml.MappingNode):
            raise self._wrong("mapping")
        seen: set[str] = set()
        for key_node, value_node in self._node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else str(key_node.value)
            value = Node(self._file, key, value_node, self._value.get(_constructed(key_node)))
            if key in seen:
                raise value.error(f"the key {key!r} comes twice", "keep one of them")
            seen.add(key)
            yield key, value

    def items(self) -> list[Node]:
        """The items of a list."""
        import yaml

        if not isinstance(self._node, yaml.SequenceNode):
            raise self._wrong("list")
        return [
            Node(self._file, self._name, node, value) for node, value in zip(self._node.value, self._value, strict=True)
        ]

    def mapping(self) -> dict[str, Any]:
        """A mapping as it stands, to be understood elsewhere."""
        list(self.pairs())
        return dict(self._value)

    def is_text(self) -> bool:
        """Whether this is a text."""
        return isinstance(self._value, str)

    def text(self, *, empty: bool = False) -> str:
        """A text; not an ``empty`` one, unless that is allowed."""
        if not isinstance(self._value, str) or not (self._value.strip() or empty):
            raise self._wrong("text")
        return self._value

    def scalar_text(self) -> str:
        """A text, or the text of a number or of yes and no as it is written in the file."""
        import yaml

        if not isinstance(self._node, yaml.ScalarNode) or self._value is None:
            raise self._wrong("text")
        return str(self._node.value)

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self._value, bool):
            raise self._wrong("yes or no")
        return self._value

    def seconds(self) -> float:
        """A positive, finite number."""
        number = self._value
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < math.inf:
            raise self._wrong("number of seconds")
        return float(number)

    def one_of(self, choices: Iterable[Any]) -> Any:
        """One of a few words."""
        words = list(choices)
        # YAML reads a bare `none` as a text, but `no` as false; the word as it is written is what counts.
        word = self.scalar_text()
        if word not in words:
            raise self.error(f"`{self._name}` cannot be {word!r}", f"write one of {', '.join(words)}")
        return word

    def _wrong(self, wanted: str) -> ProfileError:
        article = "a " if wanted != "yes or no" else ""
        return self.error(f"`{self._name}` must be {article}{wanted}", _REMEDY[wanted])


def read_yaml(path: Path) -> Node:
    """Read the one mapping of a YAML file, safely. Raises ``ProfileError``."""
    import yaml

    file = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ProfileError(file, None, "the file is larger than 1 MiB", "check that it is a profile")
        text = data.decode()
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except OSError as error:
        raise ProfileError(file, None, f"the file cannot be read: {error.strerror}", "check the path") from None
    except UnicodeDecodeError as error:
        raise ProfileError(file, None, f"the file is not UTF-8 text (byte {error.start})", "save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise _not_yaml(file, error) from None
    except (ValueError, RecursionError, TypeError) as error:
        raise ProfileError(file, None, f"the file is not YAML: {error}", "check that it is a profile") from None
    if not isinstance(node, yaml.MappingNode):
        line = None if node is None else node.start_mark.line + 1
        raise ProfileError(file, line, "a profile is a mapping", "write lines such as `target: https://host/mcp`")
    return Node(file, "the profile", node, value)


def _constructed(node: yaml.Node) -> Any:
    """The key as the loader made it: `1: x` has the key 1."""
    import yaml

    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


def _not_yaml(file: str, error: yaml.YAMLError) -> ProfileError:
    import yaml

    line = None
    what = "the file is not YAML"
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        what = f"the file is not YAML: {error.problem or error.context}"
    return ProfileError(file, line, what, "check the indentation and the quotes there")
