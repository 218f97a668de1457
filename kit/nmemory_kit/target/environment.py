"""Which part of the kit's environment a target's process gets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Inherit = Literal["none", "safe", "all"]

#: What programs need to start, to find their own files and to write text; nothing of it is a secret by its
#: purpose.
_SAFE = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TMP",
        "TEMP",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "PYTHONUTF8",
        "PYTHONIOENCODING",
        "NVM_DIR",
        "NVM_BIN",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "NODE_ENV",
        "BUN_INSTALL",
        "DENO_DIR",
        "GOPATH",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "JAVA_HOME",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "HOMEDRIVE",
        "HOMEPATH",
    }
)
_SAFE_PREFIXES = ("LC_", "XDG_")


def child_environment(inherit: Inherit, additions: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child: ``none``, the ``safe`` part or ``all`` of the kit's, then ``additions``.

    The safe part is a fixed list of names; tokens, keys and proxies with passwords in them are not handed
    down unless they are named.
    """
    match inherit:
        case "none":
            inherited: dict[str, str] = {}
        case "all":
            inherited = dict(os.environ)
        case "safe":
            inherited = {
                name: value
                for name, value in os.environ.items()
                if name.upper() in _SAFE or name.startswith(_SAFE_PREFIXES)
            }
    return inherited | dict(additions)
