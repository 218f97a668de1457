"""The keyed fingerprint of a forgotten content: whoever has the key can tell whether some bytes were those."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Final

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import store_fault

KEY_SUFFIX: Final = ".hmac-key"

_TAG: Final = b"nmemory-tombstone-hmac-v1"
_KEY_BYTES: Final = 32
_UNFINISHED_SUFFIX: Final = ".unfinished"


def content_hmac(key: bytes, capsule_id: str, content: str) -> str:
    """The fingerprint under this key; the same content under another id has another one."""
    message = _TAG + capsule_id.encode() + b"\0" + content.encode()
    return f"hmac-sha256:{hmac.new(key, message, hashlib.sha256).hexdigest()}"


def key_of(call: Call) -> bytes:
    """The key of this store: NMEMORY_HMAC_KEY, else the file beside the store, which is made where it is missing.

    To be called within a write transaction, so that two processes don't make one each. Raises -32603 if there
    is no key to be had.
    """
    if call.settings.hmac_key is not None:
        return os.fsencode(call.settings.hmac_key.strip())
    database = call.store.database.path
    path = database.with_name(database.name + KEY_SUFFIX)
    try:
        if not path.exists():
            _create(path)
        key = path.read_bytes().strip()
    except OSError as error:
        raise store_fault(
            f"The key file beside the store can't be used: {error.strerror}. Check the rights of the store's folder, "
            "or set NMEMORY_HMAC_KEY. Nothing was changed."
        ) from None
    if not key:
        raise store_fault(
            "The key file beside the store is empty, so nothing can be fingerprinted. Put the old key back, or remove "
            "the file and a new one is made. Nothing was changed."
        )
    return key


def _create(path: Path) -> None:
    """Make the key file: 64 hex digits that only its owner may read. It is there whole or not at all."""
    unfinished = path.with_name(path.name + _UNFINISHED_SUFFIX)
    unfinished.unlink(missing_ok=True)  # a process died in here: no other is in a write transaction of this store
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(os.urandom(_KEY_BYTES).hex())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
