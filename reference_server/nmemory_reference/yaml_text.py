"""YAML (and with it JSON) written by people: read with the line of everything, so that errors can name it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class YamlFault(Exception):
    """The text isn't what it should be; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


class Scalar(NamedTuple):
    """A single value, as it is written."""

    line: int
    text: str
    quoted: bool

    @property
    def empty(self) -> bool:
        """Whether there is no value: nothing, or YAML's null."""
        return not self.quoted and self.text in {"", "~", "null", "Null", "NULL"}


class Items(NamedTuple):
    """A list."""

    line: int
    values: tuple[Value, ...]


class Fields(NamedTuple):
    """A mapping; each key is there once."""

    line: int
    values: dict[str, Value]
    key_lines: dict[str, int]

    def refuse_unknown(self, known: frozenset[str]) -> None:
        """Raise YamlFault at the first key that is not in `known`."""
        for key, line in self.key_lines.items():
            if key not in known:
                raise YamlFault(line, f"{key!r} is not known here; known: {', '.join(sorted(known))}")


Value = Scalar | Items | Fields


def read_yaml(text: str) -> Value:
    """The value that `text` spells; an empty text is an empty Scalar. Raises YamlFault."""
    import yaml  # needed by few calls, and slow to import

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def value(node: yaml.Node) -> Value:
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode):
            return Scalar(line, node.value, node.style is not None)
        if isinstance(node, yaml.SequenceNode):
            return Items(line, tuple(value(item) for item in node.value))
        fields: dict[str, Value] = {}
        key_lines: dict[str, int] = {}
        for key, item in node.value:
            key_line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise YamlFault(key_line, "a key has to be a plain word")
            if key.value in fields:
                raise YamlFault(key_line, f"{key.value!r} is there twice")
            fields[key.value] = value(item)
            key_lines[key.value] = key_line
        return Fields(line, fields, key_lines)

    try:
        node = yaml.compose(text, Loader=loader)
        return value(node) if node is not None else Scalar(1, "", quoted=False)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlFault(mark.line + 1 if mark else 1, error.problem or "is no YAML") from error
    except yaml.YAMLError as error:
        raise YamlFault(1, "holds a character that YAML does not allow") from error
    except RecursionError as error:
        raise YamlFault(1, "is nested too deeply") from error


def strings(value: Value) -> Iterator[Scalar]:
    """The members of a list of strings, or the one string that stands for such a list."""
    if isinstance(value, Scalar):
        if not value.empty:
            yield value
        return
    if isinstance(value, Fields):
        raise YamlFault(value.line, "should be a list of strings")
    for item in value.values:
        if not isinstance(item, Scalar) or item.empty:
            raise YamlFault(item.line, "should be a string")
        yield item
