"""The linter finds each fault that would otherwise be silent, and has nothing to say of a good pack."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from nmemory_kit.contract import lint as linter
from nmemory_kit.contract import pack_names
from nmemory_kit.contract.lint import lint

if TYPE_CHECKING:
    from unit.contract.conftest import SmallPack

Change = Callable[[Any], None]


def _step(index: int, **members: Any) -> Change:
    return lambda small: small.case["steps"][index].update(members)


def _add(step: dict[str, Any]) -> Change:
    return lambda small: small.case["steps"].append(step)


def _head(**members: Any) -> Change:
    return lambda small: small.case.update(members)


def _pack(**members: Any) -> Change:
    return lambda small: small.pack.update(members)


def _standing(**members: Any) -> Change:
    return lambda small: small.pack["standing"][0].update(members)


def _clause(**members: Any) -> Change:
    return lambda small: small.clauses["clauses"][0].update(members)


def _file(name: str, text: str) -> Change:
    return lambda small: small.others.update({name: text})


def _forget_clause(clause: str) -> Change:
    return lambda small: small.case["clauses"].remove(clause)


def _schema(schema: Any) -> Change:
    return lambda small: small.schemas.update({"read.json": schema})


def _refusing(error: Any) -> Change:
    """A first step that is refused by a name; the pack has the name ``gone`` with one value, ``id``."""
    gone = {"rpc": -32002, "body": {"properties": {"id": {"const": "{{id}}"}}}}

    def change(small: SmallPack) -> None:
        _pack(refusals={"gone": gone})(small)
        _add({"call": "read", "clause": "n1/read/back", "error": error})(small)

    return change


READ: dict[str, Any] = {"call": "read", "clause": "n1/read/back"}
EMPTY = {"properties": {"notes": {"maxItems": 0}}}

FAULTS: dict[str, tuple[Change, str]] = {
    # files
    "a file that is not JSON": (_file("cases/write/write-x.json", "{"), "not JSON that can be used"),
    "a member that stands twice": (_file("schemas/read.json", '{"type": "object", "type": 1}'), "'type' stands twice"),
    "a file of another kind": (_file("notes.txt", "hello"), "only .json files"),
    "a file in no place": (_file("cases/stray.json", "{}"), "in no place where a pack has one"),
    "a file with another name": (
        lambda small: small.cases.update({"write-other": small.cases.pop("write-blank")}),
        "not named after its id",
    ),
    "an id outside its area": (
        lambda small: small.cases.update({"area-blank": {**small.cases.pop("write-blank"), "id": "blank"}}),
        "does not begin with its area",
    ),
    "an id that stands twice": (
        lambda small: small.others.update({"cases/other/write-blank.json": _text(small.case)}),
        "two cases have the id",
    ),
    "a schema that nobody uses": (lambda small: small.schemas.update({"old.json": {}}), "does not use this schema"),
    "a schema that is not there": (_standing(schema="gone.json"), "'gone.json' is not in schemas/"),
    # grammar
    "an unknown member of a case": (_head(clauzes=[]), "no member 'clauzes' (did you mean 'clauses'?)"),
    "an unknown member of a step": (_step(2, nowere=["x"]), "no member 'nowere' (did you mean 'nowhere'?)"),
    "a step of no kind": (_add({"note": "nothing"}), "a step is exactly one of"),
    "a step of two kinds": (_step(2, restart=True), "it is several at once: call, restart"),
    "an unknown member of the pack": (_pack(tool={}), "no member 'tool' (did you mean 'tools'?)"),
    "a level that does not exist": (_clause(level="OUGHT"), "'OUGHT' is not one of"),
    # schemas
    "a misspelt keyword": (_step(2, expect={"minItms": 1}), "no member 'minItms' (did you mean 'minItems'?)"),
    "a misspelt keyword in a schema file": (_schema({"items": {"requird": []}}), "no member 'requird'"),
    "a keyword with a wrong value": (_step(2, expect={"type": "text"}), "/type"),
    "a keyword that is ignored": (_schema({"format": "uri"}), "this keyword is not used here"),
    "a pattern that is none": (_step(2, expect={"pattern": "("}), "is not a 'regex'"),
    "an order without a direction": (_step(2, expect={"ordered": {"direction": "up"}}), "'up' is not one of"),
    "a bad schema in a check": (_step(2, checks=[{"expect": {"typ": "object"}}]), "no member 'typ'"),
    "a bad schema of an error": (_step(1, error={"code": "blank", "body": {"typ": 1}}), "no member 'typ'"),
    "a bad schema in place": (_standing(schema={"typ": "object"}), "no member 'typ'"),
    "a bad schema of a named refusal": (_pack(refusals={"gone": {"rpc": -1, "body": {"typ": 1}}}), "no member 'typ'"),
    "a refusal that does not exist": (_refusing({"is": "gon"}), "no refusal 'gon' (did you mean 'gone'?)"),
    "a refusal without its value": (_refusing("gone"), "the refusal 'gone' wants a value 'id'"),
    "a refusal with a stray value": (_refusing({"is": "gone", "with": {"id": 1, "kind": 2}}), "has no use for 'kind'"),
    "a reference that leads nowhere": (_schema({"$ref": "#/$defs/gone"}), "leads nowhere"),
    # names
    "a clause that does not exist": (
        _step(2, clause="n1/read/bak"),
        "no clause 'n1/read/bak' (did you mean 'n1/read/back'",
    ),
    "a clause of a step that the case does not name": (_forget_clause("n1/read/back"), "the case does not name it"),
    "a clause that no step decides": (
        lambda small: small.cases["wire-advertises"]["clauses"].append("n1/error/shape"),
        "n1/error/shape is named, but no step",
    ),
    "a clause whose standing check is off": (_step(2, unjudged=["read-shape"]), "n1/read/shape is named, but no step"),
    "a clause without a case": (_forget_clause("n1/error/shape"), "n1/error/shape has no case"),
    "an excluded clause with a case": (
        _clause(excluded="Nobody can see it from outside."),
        "is excluded, but a case names",
    ),
    "a standing check of no clause": (_standing(clause="n1/read/shpe"), "no clause 'n1/read/shpe'"),
    "a standing check of no tool": (_standing(tools=["raed"]), "no tool 'raed' (did you mean 'read'?)"),
    "a standing check that stands twice": (_standing(name="json-body"), "'json-body' stands twice"),
    "an advertising clause that does not exist": (_pack(advertises="n1/wire/none"), "advertises: there is no clause"),
    "a law that does not exist": (
        _step(2, law="body-is-objct"),
        "no law 'body-is-objct' (did you mean 'body-is-object'?)",
    ),
    "a standing check that is not there": (_step(2, unjudged=["reed-shape"]), "no standing check 'reed-shape'"),
    "a tool that is not there": (_step(2, call="raed"), "no tool 'raed' (did you mean 'read'?)"),
    "an error that is not there": (_step(1, error={"code": "blnk"}), "no error 'blnk' (did you mean 'blank'?)"),
    "a seed that is not there": (_add({"seed": "pge", "with": {}}), "no seed 'pge' (did you mean 'page'?)"),
    "a seed without its values": (_add({"seed": "page", "with": {}}), "wants a value 'title'"),
    "a seed with a value too many": (_add({"seed": "page", "with": {"title": "x", "bdy": ""}}), "no use for 'bdy'"),
    "a capability that does not exist": (
        _head(needs=["seed-pge"]),
        "no capability 'seed-pge' (did you mean 'seed-page'?)",
    ),
    "a capability of no kind": (_head(needs=["moon:full"]), "no capability of the kind 'moon'"),
    "a trait that is not observed": (_head(needs=["observed:slow"]), "no capability 'observed:slow'"),
    "a tool that nobody can need": (_head(needs=["tool:raed"]), "no capability 'tool:raed'"),
    "a clause where nothing is": (_clause(where=["htp"]), "where: there is no capability 'htp' (did you mean 'http'?)"),
    "a credential that is not needed": (_step(2, **{"as": "reader"}), "so it needs 'credential:reader'"),
    "an observation by no tool": (
        lambda small: small.pack["observe"]["fast"].update({"call": "raed"}),
        "observe 'fast': the protocol has no tool 'raed'",
    ),
    "a cleaning tool that is not there": (
        _pack(cleanup={"write": {"tool": "wipe", "with": {}, "save": {}}}),
        "cleanup of write: the protocol has no tool 'wipe'",
    ),
    "a cleaning rule with a bad schema": (
        _pack(cleanup={"write": [{"tool": "read", "with": {}, "save": {}, "where": {"typ": 1}}]}),
        "no member 'typ'",
    ),
    # places
    "a store that is not needed": (_step(0, at="laptop"), "uses the store 'laptop', so it needs 'second-store'"),
    "a store's file that is not needed": (
        _step(0, **{"with": {"text": "{{stores/main/file}}"}}),
        "uses the placeholder {{stores}}, so it needs 'store-file' or 'second-store'",
    ),
    "a client's name that is not needed": (_step(0, client="Kit"), "uses a client's name, so it needs 'client-name'"),
    "a client among calls at once": (
        _add({"parallel": [{"call": "write", "with": {"text": "a"}, "client": "Kit"}], "times": 2}),
        "calls that are sent at once have no `client`",
    ),
    "a file that is not needed": (_add({"file": "a", "text": "b"}), "so it needs 'shared-filesystem'"),
    "a file of two kinds": (_add({"file": "a", "text": "b", "gone": True}), "exactly one of text, base64, link"),
    "a file of no kind": (_add({"file": "a"}), "exactly one of text, base64, link"),
    "bytes that are no base64": (_add({"file": "a", "base64": "?"}), "'?' is not of the form"),
    "a look that is not needed": (_add({"look": "a"}), "uses a look at a file, so it needs"),
    "a question to a file that is not needed": (_add({"sqlite": "SELECT 1"}), "uses SQL, so it needs 'store-file'"),
    "a stop that is not needed": (_add({"stop": True}), "uses a stop of the target, so it needs 'restart'"),
    "a root without files": (_head(needs=["shared-root"]), "needs 'shared-filesystem' too"),
    "a store with a bad name": (_step(0, at="My Laptop"), "'My Laptop' is not of the form"),
    "a saved value called as the kit's own is": (_step(0, save={"folder": "/id"}), "/save"),
    # placeholders
    "a placeholder that nothing fills": (
        _step(0, **{"with": {"text": "{{markr}}"}}),
        "nothing before it saves 'markr'",
    ),
    "a value used before it is saved": (_step(0, **{"with": {"text": "{{id}}"}}), "nothing before it saves 'id'"),
    "an index without a repetition": (_step(2, **{"with": {"id": "{{id}}", "n": "{{index}}"}}), "saves 'index'"),
    "a save that nothing uses": (_step(1, save={"code": "/error"}), "nothing uses what is saved as 'code'"),
    "a save that takes another's place": (_step(1, save={"id": "/error"}), "'id' was saved in step 1 already"),
    "a placeholder in a key": (_step(0, **{"with": {"{{marker}}": 1}}), "a placeholder in a key is not filled"),
    # evidence
    "a rejection without a code": (_step(1, error={"in_band": True}), "a rejection names its code"),
    "a refusal with any text by a tool that accepts nothing": (
        lambda small: small.case["steps"].__setitem__(
            2, {"call": "read", "error": {"in_band": {"type": "string"}}, "with": {"id": "{{id}}"}}
        ),
        "read may refuse with any text",
    ),
    "an expectation of an error that has no envelope": (
        _step(1, error={"rpc": -32602}, expect={"required": ["kind"]}),
        "say it in the error's `body`",
    ),
    "a bad schema of a message": (_step(1, error={"rpc": -32602, "message": {"typ": 1}}), "no member 'typ'"),
    "a message of no JSON-RPC error": (_step(1, error={"code": "blank", "message": {}}), "'rpc' is a dependency"),
    "an absent text without a control": (
        lambda small: small.case["steps"][2].pop("shows"),
        "step 3: `nowhere` '{{marker}} bad' is no evidence unless read shows something",
    ),
    "an empty list without a control": (
        lambda small: small.case["steps"].__setitem__(2, {**READ, "with": {"id": "{{id}}"}, "expect": EMPTY}),
        "an empty list is no evidence",
    ),
    "a count of zero without a control": (
        lambda small: small.case["steps"].__setitem__(
            2, {**READ, "with": {"id": "{{id}}"}, "expect": {"properties": {"total": {"const": 0}}}}
        ),
        "a count of 0 is no evidence",
    ),
    "an unmentioned text without a control": (
        lambda small: small.case["steps"].__setitem__(
            2, {**READ, "with": {"id": "{{id}}"}, "expect": {"not": {"mentions": "x"}}}
        ),
        "`not` mentions is no evidence",
    ),
    "an absence that another tool controls": (
        lambda small: small.case["steps"].__setitem__(
            slice(None),
            [
                {"call": "write", "with": {"text": " "}, "error": {"code": "blank"}},
                {"call": "write", "with": {"text": "{{marker}}"}, "shows": ["{{marker}}"]},
                {**READ, "nowhere": ["{{marker}}"]},
            ],
        ),
        "is no evidence unless read shows something",
    ),
}

RIGHT: dict[str, Change] = {
    "the pack as it is": lambda small: None,
    "a stated reason for an absence": lambda small: (
        small.case["steps"][2].pop("shows"),
        small.case.update(control="The tool write shows that the note is there."),
    ),
    "a control in another step of the tool": lambda small: (
        small.case["steps"][2].pop("shows"),
        _add({**READ, "expect": {"properties": {"notes": {"contains": {"const": "x"}}}}})(small),
    ),
    "a foreign tool that is marked": _add({"call": "gone", "error": {"in_band": True}, "unjudged": ["*"]}),
    "a refusal by its name": _refusing({"is": "gone", "with": {"id": "{{id}}"}}),
    "a refusal with any text by a tool that accepts something": _add(
        {"call": "write", "error": {"in_band": {"type": "string"}}, "with": {"text": 1}}
    ),
    "a refusal whose text says what is wrong": _add(
        {"call": "read", "error": {"in_band": {"mentions": "id"}}, "with": {"id": 1}}
    ),
    "errors without an envelope": lambda small: (
        small.pack.update(errors={"renumbered": {"2026-07-28": {"-32002": -32602}}}),
        _step(1, error={"rpc": -32602, "in_band": {"mentions": "text"}})(small),
    ),
    "steps that go elsewhere": lambda small: (
        _head(needs=["second-store", "client-name", "shared-filesystem", "shared-root", "store-file", "restart"])(
            small
        ),
        _add({"call": "write", "with": {"text": "{{here}} {{outside}}"}, "at": "laptop", "client": "Kit"})(small),
        _add({"file": "{{folder}}/a", "copy": "{{stores/laptop/file}}"})(small),
        _add({"look": "a", "save": {"sha": "/sha256", "size": "/size"}})(small),
        _add({"sqlite": "SELECT ?", "with": ["{{sha}}", "{{size+1}}"], "at": "laptop"})(small),
        _add({"stop": True, "at": "laptop"})(small),
        _add({"restart": True})(small),
    ),
    "things taken back in two ways": _pack(
        cleanup={
            "write": [
                {"tool": "read", "with": {"id": "{{id}}"}, "save": {"id": "/id"}},
                {"tool": "read", "with": {"id": "{{id}}"}, "save": {"id": "/id"}, "each": "/rows", "where": {}},
            ]
        }
    ),
    "a placeholder for a number": _step(2, expect={"properties": {"n": {"minimum": "{{id}}"}}}),
    "the kit's own keywords": _step(2, expect={"uniqueBy": "/id", "ordered": {"by": "/t", "as": "instant"}}),
    "a property called as a keyword is": _schema({"properties": {"format": {"type": "string"}}}),
    "an index inside a repetition": _add({"parallel": [{"call": "write", "with": {"text": "{{index}}"}}], "times": 2}),
    "values saved in a group": lambda small: (
        _add({"parallel": [{"call": "write", "with": {"text": "a"}, "save": {"ids": "/id"}}], "times": 2})(small),
        _add({"judge": "{{ids}}", "expect": {"minItems": 2, "uniqueItems": True}})(small),
    ),
    "a clause that only a judged value decides": lambda small: (
        small.case["steps"].pop(2),
        _add({"judge": "{{id}}", "clause": "n1/read/back", "expect": {"type": "string"}})(small),
        _add({"call": "read"})(small),
    ),
    "a seed with its values": _add({"seed": "page", "with": {"title": "x"}}),
    "needs of every kind": _head(
        needs=["tool:read", "seed-page", "restart", "claims:all", "credential:reader", "observed:no-fast"]
    ),
    "an excluded clause without a case": lambda small: (
        small.cases.pop("wire-advertises"),
        _clause(excluded="Nobody can see it from outside.")(small),
    ),
    "a repeated text and an instant": _step(0, **{"with": {"text": "{{é*500}} {{now+2s}} \\{{x}}"}}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(small: SmallPack, fault: str) -> None:
    change, message = FAULTS[fault]
    change(small)
    problems = lint(small.written())
    assert [problem for problem in problems if message in problem.message], problems


@pytest.mark.parametrize("right", RIGHT)
def test_what_is_right_passes(small: SmallPack, right: str) -> None:
    RIGHT[right](small)
    assert lint(small.written()) == []


def test_a_problem_names_its_file(small: SmallPack) -> None:
    _step(1, error={"code": "blnk"})(small)
    (problem,) = lint(small.written())
    assert str(problem) == (
        "cases/write/write-blank.json: step 2: the protocol has no error 'blnk' (did you mean 'blank'?)"
    )


def test_a_fault_inside_a_schema_is_told_once(small: SmallPack) -> None:
    _step(2, expect={"properties": {"notes": {"items": {"minItms": 1}}}})(small)
    assert len(lint(small.written())) == 1


def test_a_pack_without_its_files_says_which(tmp_path: Any) -> None:
    assert {problem.file for problem in lint(tmp_path)} == {"pack.json", "clauses"}


def test_a_clause_stands_once_and_with_its_area(small: SmallPack) -> None:
    again = {**small.clauses["clauses"][0]}
    small.others["clauses/write.json"] = json.dumps({"clauses": [*_of_area(small, "write"), again]})
    assert [str(problem) for problem in lint(small.written())] == [
        "clauses: n1/wire/advertises stands twice",
        "clauses/write.json: n1/wire/advertises belongs to another area",
    ]


def _of_area(small: SmallPack, area: str) -> list[dict[str, Any]]:
    return [clause for clause in small.clauses["clauses"] if clause["id"].split("/")[1] == area]


def test_the_command_prints_the_problems_and_fails(small: SmallPack, capsys: pytest.CaptureFixture[str]) -> None:
    root = small.written()
    assert linter.main([str(root)]) == 0
    _head(needs=["moon"])(small)
    small.written()
    capsys.readouterr()
    assert linter.main([str(root)]) == 1
    assert "cases/write/write-blank.json: needs: there is no capability 'moon'" in capsys.readouterr().out


@pytest.mark.parametrize("name", pack_names())
def test_a_pack_of_the_kit_has_no_problems(name: str) -> None:
    assert lint(files("nmemory_cases").joinpath(*name.split("/"))) == []


def _text(document: Any) -> str:
    import json

    return json.dumps(document)
