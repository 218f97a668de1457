"""The kit's own reference server, as the target of a run that names none."""

import sys

#: ``-P`` keeps a folder of that name where the user stands out of the way; the built-in embedding lets duplicates and
#: supersession be judged.
COMMAND = (
    *(sys.executable, "-P", "-m", "nmemory_reference"),
    *("--db", "{store}", "--anchor-root", "{folder}", "--surface", "full", "--embeddings", "hash"),
)

#: What it is known to be: an expensive call costs nothing, and must not be answered.
CLAIMS = frozenset({"no-llm"})
