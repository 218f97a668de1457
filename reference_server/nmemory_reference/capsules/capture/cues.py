"""The cues of mining, as data: closed lists of English and Portuguese phrases, and the kind that each tells.

The order of the rules is their precedence within one segment. Accents are kept, since `é` (is) and `e` (and)
are different words; where a common spelling lacks them, both stand here.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Place(Enum):
    """Where in a segment a phrase counts."""

    #: At the start, with a colon or a dash after it.
    LABEL = "label"
    #: At the start.
    OPENER = "opener"
    #: Anywhere.
    ANYWHERE = "anywhere"
    #: Anywhere but at the start.
    INSIDE = "inside"


class Rule(NamedTuple):
    """Phrases of one kind; `anchored` ones need a concrete token (an entity) in the segment."""

    id: str
    kind: str
    place: Place
    phrases: tuple[str, ...]
    anchored: bool = False


RULES: Final = (
    Rule(
        "task-label",
        "task",
        Place.LABEL,
        (
            *("todo", "to do", "to-do", "task", "action item", "action", "pending", "fixme", "next step"),
            *("pendente", "pendência", "pendencia", "tarefa", "a fazer", "próximo passo", "proximo passo"),
        ),
    ),
    Rule(
        "epic-label",
        "epic",
        Place.LABEL,
        ("epic", "milestone", "initiative", "épico", "epico", "marco", "iniciativa"),
    ),
    Rule(
        "idea-label",
        "brainstorm",
        Place.LABEL,
        (
            *("idea", "brainstorm", "hypothesis", "thought", "ideia", "idéia", "hipótese", "hipotese"),
            *("sugestão", "sugestao"),
        ),
    ),
    Rule(
        "exploration-opener",
        "brainstorm",
        Place.OPENER,
        (
            *("what if", "how about", "maybe we could", "maybe we should", "could we", "we could try", "imagine if"),
            *("e se", "que tal", "talvez possamos", "talvez pudéssemos", "poderíamos", "podíamos tentar"),
        ),
    ),
    Rule(
        "doc-label",
        "doc",
        Place.LABEL,
        (
            *("doc", "docs", "documentation", "document", "runbook", "guide", "manual", "reference", "readme"),
            *("documentação", "documentacao", "documento", "guia", "referência", "referencia"),
        ),
    ),
    Rule(
        "procedure-label",
        "procedure",
        Place.LABEL,
        (
            *("procedure", "steps", "recipe", "playbook", "howto", "how-to", "workflow"),
            *("procedimento", "passos", "receita", "passo a passo", "roteiro"),
        ),
    ),
    Rule("how-to-opener", "procedure", Place.OPENER, ("how to", "como fazer", "como rodar", "como usar")),
    Rule(
        "constraint-label",
        "constraint",
        Place.LABEL,
        (
            *("constraint", "invariant", "restriction", "limit", "rule", "requirement"),
            *("restrição", "restricao", "invariante", "limite", "regra", "requisito"),
        ),
    ),
    Rule("capability-label", "capability", Place.LABEL, ("capability", "capacidade", "ability", "skill", "habilidade")),
    Rule(
        "applicability-opener",
        "capability",
        Place.OPENER,
        (
            *("use when", "use this when", "when to use", "useful when", "applies when", "use if"),
            *("use quando", "usar quando", "quando usar", "útil quando", "util quando", "aplica-se quando"),
        ),
    ),
    Rule(
        "failure-label",
        "failure_pattern",
        Place.LABEL,
        (
            *("failure", "failure pattern", "symptom", "pitfall", "trap", "gotcha", "known issue", "bug"),
            *("falha", "sintoma", "armadilha", "problema conhecido", "padrão de falha", "padrao de falha"),
        ),
    ),
    Rule(
        "decision-label",
        "decision",
        Place.LABEL,
        ("decision", "decided", "decisão", "decisao", "decidido"),
    ),
    Rule(
        "decision",
        "decision",
        Place.ANYWHERE,
        (
            *("we decided", "i decided", "decided to", "was decided", "were decided", "it is decided", "we agreed"),
            *("agreed to", "we chose", "we opted", "opted for", "we settled on", "the decision is"),
            *("the decision was", "we will go with", "we'll go with", "let's go with", "we are going with"),
            *("decidimos", "decidi", "decidiram", "foi decidido", "ficou decidido", "ficou definido"),
            *("a decisão é", "a decisão foi", "a decisao foi", "optamos por", "escolhemos", "vamos com"),
            *("combinamos", "ficou combinado"),
        ),
    ),
    Rule(
        "prohibition",
        "constraint",
        Place.ANYWHERE,
        (
            *("must not", "mustn't", "must never", "may not", "shall not", "should not", "shouldn't"),
            *("is not allowed", "are not allowed", "is forbidden", "are forbidden", "is prohibited"),
            *("não pode", "não podem", "nao pode", "nao podem", "não deve", "não devem", "nao deve", "nao devem"),
            *("é proibido", "são proibidos", "está proibido", "não é permitido", "não são permitidos"),
        ),
    ),
    Rule(
        "failure",
        "failure_pattern",
        Place.ANYWHERE,
        (
            *("fails with", "fail with", "failed with", "fails when", "fail when", "fails if", "breaks when"),
            *("break when", "breaks if", "broke when", "crashes when", "crashes with", "crashes if", "hangs when"),
            *("times out when", "falha quando", "falham quando", "falha com", "falham com", "falha se"),
            *("quebra quando", "quebram quando", "quebra se", "trava quando", "travam quando", "cai quando"),
        ),
    ),
    Rule(
        "procedure-shape",
        "procedure",
        Place.OPENER,
        (
            *("first run", "step 1", "step one", "in order to", "before you", "passo 1", "primeiro rode"),
            *("primeiro execute", "para fazer", "antes de"),
        ),
    ),
    Rule(
        "imperative-opener",
        "procedure",
        Place.OPENER,
        (
            *("make sure", "be sure to", "remember to", "do not", "don't", "ensure", "avoid", "verify", "validate"),
            *("run", "rerun", "restart", "install", "configure", "rotate", "deploy", "check out"),
            *("certifique-se", "garanta", "evite", "verifique", "valide", "lembre-se", "não esqueça"),
            *("rode", "execute", "reinicie", "instale"),
        ),
    ),
    Rule(
        "standing-rule",
        "fact",
        Place.INSIDE,
        ("never", "always", "nunca", "sempre", "jamais"),
    ),
    Rule(
        "declarative",
        "fact",
        Place.ANYWHERE,
        (
            *("is", "are", "was", "were", "isn't", "aren't", "wasn't", "has", "have", "had", "must", "should"),
            *("does not", "doesn't", "do not", "did not", "cannot", "can't", "uses", "requires", "needs", "means"),
            *("é", "são", "foi", "foram", "era", "eram", "está", "estão", "tem", "têm", "deve", "devem"),
            *("não", "usa", "usam", "requer", "precisa", "significa"),
        ),
        anchored=True,
    ),
)

#: Adverbs that open a command ("Sempre valide o token") unless a subject follows ("Always the leader writes").
STANDING_ADVERBS: Final = frozenset({"never", "always", "nunca", "sempre", "jamais"})
SUBJECT_OPENERS: Final = frozenset(
    {
        *("the", "a", "an", "this", "that", "these", "those", "it", "we", "they", "he", "she", "i", "you", "our"),
        *("my", "your", "their", "its", "o", "os", "as", "um", "uma", "este", "esta", "isso", "isto", "ele", "ela"),
        *("eles", "elas", "nós", "eu", "você", "nosso", "nossa", "meu", "minha"),
    }
)
#: Every word or phrase that is a label: a chat line's speaker is never called like one.
LABELS: Final = frozenset(phrase for rule in RULES if rule.place is Place.LABEL for phrase in rule.phrases)
