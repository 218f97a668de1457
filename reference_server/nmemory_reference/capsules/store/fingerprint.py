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
    import secrets  # these two load much, and a store is given its key once
    import tempfile

    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mode 0600 from the start
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).replace(path)
    except OSError:
        Path(unfinished).unlink(missing_ok=True)
        raise
