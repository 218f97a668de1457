"""The hijack rules, as data: text that gives orders to whoever reads it, in English and Portuguese.

A rule fires where each of its groups has a phrase within `span` words of one sentence. Phrases are written as
`fold` leaves them: lower case, no accents. Ordinary imperatives ("run the tests", "never share a nonce") must
stay clean: a rule needs an order together with its telltale object.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """One way of hijacking a reader; every group has to be met."""

    id: str
    groups: tuple[tuple[str, ...], ...]
    span: int = 10


RULES: Final = (
    Rule(
        "override_instructions",
        (
            (
                *("ignore", "disregard", "forget", "override", "bypass", "do not follow", "don t follow"),
                *("stop following", "ignora", "ignorem", "desconsidere", "desconsiderem", "esqueca", "esquecam"),
                *("nao siga", "nao sigam", "pare de seguir", "sobrescreva"),
            ),
            (
                *("previous", "prior", "above", "earlier", "preceding", "all", "your", "system", "original"),
                *("anteriores", "anterior", "previas", "acima", "todas", "todos", "suas", "seus", "sistema"),
                *("originais",),
            ),
            (
                *("instructions", "instruction", "directives", "guidelines", "prompt", "prompts", "rules"),
                *("instrucoes", "instrucao", "diretrizes", "orientacoes", "regras"),
            ),
        ),
        span=8,
    ),
    Rule(
        "assume_persona",
        (
            (
                *("you are now", "act as", "pretend to be", "pretend you are", "behave as", "roleplay as"),
                *("from now on you", "voce agora e", "agora voce e", "aja como", "finja ser", "comporte se como"),
                *("a partir de agora voce",),
            ),
            (
                *("unrestricted", "jailbroken", "jailbreak", "developer mode", "no restrictions", "no limits"),
                *("without restrictions", "without limits", "no rules", "god mode", "root", "administrator", "dan"),
                *("sem restricoes", "sem limites", "sem regras", "modo desenvolvedor", "administrador", "irrestrito"),
            ),
        ),
        span=16,
    ),
    Rule(
        "new_orders",
        (
            (
                *("new instructions", "new system prompt", "updated instructions", "real instructions"),
                *("novas instrucoes", "novo prompt", "instrucoes reais", "instrucoes atualizadas"),
            ),
            (
                *("follow", "obey", "execute", "apply", "replace", "instead", "override", "must", "comply"),
                *("siga", "sigam", "obedeca", "obedecam", "aplique", "substitua", "substituem", "deve", "cumpra"),
                *("em vez",),
            ),
        ),
        span=14,
    ),
    Rule(
        "obey_text",
        (
            (
                *("you must obey", "you must comply", "you will obey", "obey this", "obey these", "obey me"),
                *("follow only these instructions", "follow these instructions instead", "voce deve obedecer"),
                *("obedeca a estas", "obedeca a este", "obedeca me", "siga apenas estas instrucoes"),
                *("siga estas instrucoes em vez",),
            ),
        ),
    ),
    Rule(
        "reveal_prompt",
        (
            (
                *("reveal", "print", "show", "repeat", "output", "display", "leak", "tell me", "recite"),
                *("revele", "mostre", "imprima", "repita", "exiba", "vaze", "diga me"),
            ),
            (
                *("system prompt", "hidden prompt", "hidden instructions", "initial prompt", "secret instructions"),
                *("your instructions", "your prompt", "prompt do sistema", "prompt oculto", "instrucoes ocultas"),
                *("suas instrucoes", "seu prompt", "instrucoes secretas", "prompt inicial"),
            ),
        ),
        span=10,
    ),
    Rule(
        "exfiltrate_secrets",
        (
            (
                *("send", "post", "upload", "email", "forward", "exfiltrate", "transmit", "leak"),
                *("envie", "mande", "poste", "encaminhe", "exfiltre", "transmita", "vaze"),
            ),
            (
                *("api key", "api keys", "password", "passwords", "credentials", "secrets", "private key"),
                *("private keys", "access tokens", "ssh key", "ssh keys", "environment variables", "conversation"),
                *("chave de api", "chaves de api", "senha", "senhas", "credenciais", "segredos", "chave privada"),
                *("tokens de acesso", "variaveis de ambiente", "conversa"),
            ),
            (
                *("http", "https", "webhook", "attacker", "to me", "my server", "this address", "this url"),
                *("este endereco", "esta url", "para mim", "meu servidor", "atacante"),
            ),
        ),
        span=16,
    ),
    Rule(
        "conceal_from_user",
        (
            (
                *("do not tell", "don t tell", "never tell", "without telling", "do not mention", "don t mention"),
                *("do not inform", "don t inform", "never mention", "hide this from", "keep this from", "conceal"),
                *("nao conte", "nao diga", "nao informe", "nao mencione", "sem avisar", "sem contar", "esconda"),
                *("oculte", "nunca conte", "nunca mencione"),
            ),
            (
                *("user", "users", "owner", "human", "operator", "developer", "anyone"),
                *("usuario", "usuarios", "dono", "humano", "operador", "desenvolvedor", "ninguem"),
            ),
        ),
        span=8,
    ),
    Rule(
        "act_unasked",
        (
            (
                *("run", "execute", "delete", "install", "download", "approve", "call", "transfer"),
                *("rode", "apague", "instale", "baixe", "aprove", "chame", "transfira"),
            ),
            (
                *("without asking", "without confirmation", "without permission", "without approval"),
                *("without telling", "silently", "secretly", "do not ask", "don t ask"),
                *("sem perguntar", "sem confirmar", "sem confirmacao", "sem permissao", "sem autorizacao"),
                *("silenciosamente", "secretamente", "em segredo", "nao pergunte"),
            ),
            (
                *("command", "commands", "code", "script", "tool", "tools", "files", "payload", "payment"),
                *("comando", "comandos", "codigo", "ferramenta", "ferramentas", "arquivos", "pagamento"),
            ),
        ),
        span=14,
    ),
    Rule(
        "disable_safeguards",
        (
            (
                *("disable", "turn off", "switch off", "bypass", "deactivate", "circumvent", "ignore"),
                *("desative", "desativem", "desligue", "burle", "contorne", "desabilite"),
            ),
            (
                *("guardrails", "safeguards", "safety filters", "safety filter", "content filter", "safety checks"),
                *("content policy", "safety rules", "salvaguardas", "filtros de seguranca", "filtro de seguranca"),
                *("politica de conteudo", "regras de seguranca", "protecoes de seguranca"),
            ),
        ),
        span=8,
    ),
)

#: Marks of chat templates: nobody writes them but to speak with another's voice. Looked for as they stand,
#: in lower case.
TEMPLATE_RULE: Final = "forged_turn"
TEMPLATE_MARKS: Final = (
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|assistant|>",
    "<|endoftext|>",
    "<<sys>>",
    "[inst]",
    "[/inst]",
    "<system>",
    "</system>",
    "begin system prompt",
    "end system prompt",
)
