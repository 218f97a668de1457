"""Text that others wrote (a target, its stderr, a profile) made harmless for people, terminals and CI logs.

A target is not trusted: what it sends must move no cursor, colour nothing, hide nothing, end no line and
start no command of a CI system. What would is shown as an escape (``\\x1b``, ``\\u202e``), so that a reader
sees it too.
"""

from __future__ import annotations

import re
import unicodedata

#: Controls, surrogates, invisible formatting, and the two separators that end a line.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

#: What every printable ASCII text is made of: the common case, left alone without looking at each character.
_PLAIN = re.compile(r"[ -~]*")

#: Log commands that a CI system honours anywhere in a line.
_CI_ANYWHERE = re.compile(r"##(?=\[|vso\[|teamcity\[)")


def harmless(text: str, limit: int | None = None) -> str:
    """``text`` on one line without anything that acts; cut to ``limit`` characters, and it says so."""
    cut = ""
    if limit is not None and len(text) > limit:
        cut = f" … ({len(text) - limit:,} characters more)"
        text = text[:limit]
    if not _PLAIN.fullmatch(text):
        text = "".join(map(_visible, text))
    if "##" in text:
        text = _CI_ANYWHERE.sub(r"#\\#", text)
    if text.lstrip().startswith("::"):
        text = "\\" + text.lstrip()
    return text + cut


def harmless_lines(text: str, limit: int = 40) -> list[str]:
    """The last ``limit`` lines of ``text``, each harmless; blank ones at the end are dropped."""
    lines = text.rstrip().splitlines()
    return [harmless(line, 500) for line in lines[-limit:]]


def _visible(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if unicodedata.category(char) not in _HIDDEN and code & 0xFFFE != 0xFFFE and not 0xFDD0 <= code <= 0xFDEF:
        return char
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
