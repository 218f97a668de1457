"""The capsule stores of one server: a file for each tenant, since ids, journal and merge are said of one file."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from nmemory_reference.capsules.call import CapsuleStore, Settings
from nmemory_reference.store.database import Database
from nmemory_reference.tools.caller import DEFAULT_TENANT

_NAME_DIGITS: Final = 16
#: No folder, so that no anchor leads into it.
_NOWHERE: Final = Path(os.devnull)


class TenantStores:
    """Opens the store of a tenant when it is first asked for.

    The default tenant has the main file; another one has `<file>.<16 hex digits of the name's SHA-256>`.
    """

    def __init__(self, main: Database, settings: Settings, *, durable: bool) -> None:
        self._main = main
        self._settings = settings
        self._durable = durable
        self._stores: dict[str, CapsuleStore] = {DEFAULT_TENANT: CapsuleStore(main)}

    def store(self, tenant: str) -> CapsuleStore:
        """The tenant's store. Raises StoreError if its file can't be used."""
        if tenant not in self._stores:
            path = tenant_path(self._main.path, tenant)
            self._stores[tenant] = CapsuleStore(Database.open(path, durable=self._durable))
        return self._stores[tenant]

    def settings(self, *, files: bool) -> Settings:
        """The settings for a caller who may have files of the server's machine read, or one who may not."""
        return self._settings if files else replace(self._settings, anchor_root=_NOWHERE)

    def close(self) -> None:
        """Close the files that were opened here; the main one is its owner's to close."""
        with contextlib.ExitStack() as closing:
            for store in self._stores.values():
                if store.database is not self._main:
                    closing.callback(store.database.close)


def tenant_path(main: Path, tenant: str) -> Path:
    """The file of a tenant that is not the default one. Any name is safe: only its digest is used."""
    digest = hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()
    return main.with_name(f"{main.name}.{digest[:_NAME_DIGITS]}")
