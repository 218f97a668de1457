"""``make reports``: the reference server certified by both contracts on every transport, and the kit proven.

Writes the Markdown files that stand beside it. Exits 1 where one of them says that something is not as it should be.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NMEMORY = Path(sys.executable).with_name("nmemory")
ERAS = ("legacy", "modern")
SERVER = f"{sys.executable} -P -m nmemory_reference --surface full --embeddings hash"

#: How each transport is reached. The names are what the records call the target: no path, no port.
PROFILES = {
    "stdio": f"""\
name: nmemory serve --db {{store}} --anchor-root {{folder}} --embeddings hash
target: {SERVER} --db {{store}} --anchor-root {{folder}}
claims: [no-llm]
""",
    "http": f"""\
name: nmemory serve --http --db {{store}} --anchor-root {{folder}} --embeddings hash, with tokens
target: http://127.0.0.1:{{port}}/mcp
command: {SERVER} --http --port {{port}} --tokens tokens.yaml --db {{store}} --anchor-root {{folder}}
cwd: .
token_file: owner.token
tokens:
  reader: {{file: reader.token}}
  other-tenant: {{file: other.token}}
auth: {{required: true}}
claims: [no-llm]
""",
}
TOKENS = """\
- {token: main-token-5f2c, name: main, tenant: default, scopes: [read, write]}
- {token: reader-token-9a1b, name: reader, tenant: default, scopes: [read]}
- {token: other-token-77de, name: other, tenant: two, scopes: [read, write]}
"""


def main() -> int:
    """Write every report; 1 where one is not as it should be, otherwise 0."""
    fine = [certify(f"{transport}-{era}", era, profile) for era in ERAS for transport, profile in PROFILES.items()]
    fine.append(kit("prove", "--markdown", HERE / "proof.md"))
    return int(not all(fine))


def certify(name: str, era: str, profile: str) -> bool:
    """Judge a target by both contracts and keep the record; whether it broke no promise."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.yaml"
        file.write_text(profile, encoding="utf-8")
        file.with_name("tokens.yaml").write_text(TOKENS, encoding="utf-8")
        for caller, token in zip(("owner", "reader", "other"), re.findall(r"token: ([\w-]+)", TOKENS), strict=True):
            file.with_name(f"{caller}.token").write_text(token, encoding="utf-8")
        record = ("--markdown", HERE / f"{name}.md", "--lasting")
        return kit("conformance", "--profile", file, "--mcp-version", era, "--synthesize", *record)


def kit(*words: str | Path) -> bool:
    """Run a command of the kit's; whether it exits 0."""
    return subprocess.run([NMEMORY, "protocol", *words], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
