"""``make reports``: the reference server certified by both contracts on every transport, and the kit proven.

Writes the Markdown files that stand beside it. Exits 1 where one of them says that something is not as it should be.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
NMEMORY = Path(sys.executable).with_name("nmemory")
ERAS = ("legacy", "modern")
SERVER = f"{sys.executable} -P -m nmemory_reference --surface full --embeddings hash"

#: How each transport is reached. The names are what the records call the target: no path, no port.
STDIO = f"""\
name: nmemory serve --db {{store}} --anchor-root {{folder}} --embeddings hash
target: {SERVER} --db {{store}} --anchor-root {{folder}}
claims: [no-llm]
"""
HTTP = """\
name: nmemory serve --http --tokens tokens.yaml --embeddings hash
target: {url}
token_file: owner.token
tokens:
  reader: {{file: reader.token}}
  other-tenant: {{file: other.token}}
auth: {{required: true}}
folder: files
claims: [no-llm]
"""
TOKENS = """\
- {token: main-token-5f2c, name: main, tenant: default, scopes: [read, write]}
- {token: reader-token-9a1b, name: reader, tenant: default, scopes: [read]}
- {token: other-token-77de, name: other, tenant: two, scopes: [read, write]}
"""


def main() -> int:
    """Write every report; 1 where one is not as it should be, otherwise 0."""
    fine = []
    for era in ERAS:
        with tempfile.TemporaryDirectory() as folder:
            fine.append(certify(f"stdio-{era}", era, Path(folder), STDIO))
        with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
            fine.append(certify(f"http-{era}", era, Path(folder), HTTP.format(url=url)))
    fine.append(kit("prove", "--markdown", HERE / "proof.md"))
    return int(not all(fine))


def certify(name: str, era: str, folder: Path, profile: str) -> bool:
    """Judge a target by both contracts and keep the record; whether it broke no promise."""
    file = folder / "profile.yaml"
    file.write_text(profile, encoding="utf-8")
    words = ("--profile", file, "--mcp-version", era, "--synthesize", "--markdown", HERE / f"{name}.md", "--lasting")
    return kit("conformance", *words)


def kit(*words: str | Path) -> bool:
    """Run a command of the kit's; whether it exits 0."""
    return subprocess.run([NMEMORY, "protocol", *words], check=False).returncode == 0


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The reference server on HTTP with three callers; its URL."""
    (folder / "files").mkdir()
    tokens = folder / "tokens.yaml"
    tokens.write_text(TOKENS, encoding="utf-8")
    for file, token in zip(("owner", "reader", "other"), re.findall(r"token: ([\w-]+)", TOKENS), strict=True):
        (folder / f"{file}.token").write_text(token, encoding="utf-8")
    command = [
        *SERVER.split(),
        "--http",
        "--port",
        "0",
        "--tokens",
        str(tokens),
        "--db",
        str(folder / "memory.sqlite3"),
    ]
    with subprocess.Popen(
        [*command, "--anchor-root", str(folder / "files")], cwd=folder / "files", stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            yield next(found[0] for line in process.stderr if (found := re.search(r"http://\S+", line)))
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
