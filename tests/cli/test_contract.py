from __future__ import annotations

import json

from jsonschema import Draft202012Validator
from nmemory_kit.contract import load_pack


def test_the_contract_as_json_has_the_protocols_own_shape(nmemory):
    told = json.loads(nmemory("protocol", "--protocol", "memory-verbs", "--json").out)
    assert list(told) == ["protocol", "protocol_version", "versioning_policy", "verbs", "error_schema"]
    assert (told["protocol"], told["protocol_version"]) == ("MEMORY_VERBS", 1)
    for verb in told["verbs"].values():
        assert (
            {"description", "input_schema", "response_schema"}
            <= verb.keys()
            <= {
                "description",
                "input_schema",
                "annotations",
                "response_schema",
            }
        )
        Draft202012Validator.check_schema(verb["response_schema"])
    Draft202012Validator.check_schema(told["error_schema"])


def test_the_contract_to_read_names_every_tool_and_every_clause(nmemory):
    told = nmemory("protocol", "--protocol", "memory-verbs").out
    pack = load_pack("memory-verbs")
    assert [name for name in (*pack.tools, *pack.clauses) if name not in told] == []


def test_the_packs_are_as_they_were_frozen(nmemory):
    ran = nmemory("protocol", "freeze", "--check")
    assert (ran.code, ran.out) == (0, "every pack is as it was frozen\n")


def test_every_must_has_a_case_that_decides_it_and_a_lie_that_shows_it(nmemory):
    ran = nmemory("protocol", "coverage", "--json")
    assert [row["clause"] for row in json.loads(ran.out) if row["problem"]] == []
    assert ran.code == 0


def test_the_export_is_json_on_stdout_and_what_it_leaves_out_is_told_on_stderr(nmemory):
    ran = nmemory("protocol", "export", "brainbench")
    assert ran.code == 0
    assert {"name", "verb", "params"} <= json.loads(ran.out)[0].keys()
    assert "left out" in ran.err


def test_without_a_name_all_contracts_are_told(nmemory):
    told = json.loads(nmemory("protocol", "--json").out)
    assert [one["protocol"] for one in told] == ["MEMORY_VERBS", "NMEMORY"]
