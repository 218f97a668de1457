-- The capsules of nMEMORY v1, beside the facts and pages of the verbs in the same file.
--
-- A capsule is a skeleton that never changes (capsule) and a text that can only be destroyed (capsule_text);
-- everything else that is known about it is a sidecar. Triggers enforce the first half of that sentence.
-- `standing` gathers from all of them, by triggers too, the few numbers that fences, filters and ranks need,
-- so that recall touches one narrow row a match.
--
-- Instants are kept as the RFC 3339 text that goes back out, and where something is compared or sorted also
-- as whole microseconds since 1970 (…_us).

-- The skeleton. It outlives a forget: the id stays taken, the hash keeps the same bytes from coming back.
CREATE TABLE capsule (
    seq               INTEGER PRIMARY KEY,       -- cap-<seq>; never given out twice, since no row is deleted
    source_hash       TEXT NOT NULL UNIQUE,      -- lower-case hex SHA-256 of the content: a capsule's identity
    created_at        TEXT NOT NULL,
    created_us        INTEGER NOT NULL,
    confidence        REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    log_confidence    REAL,                      -- log2(confidence), NULL for 0: decay then sorts without pow()
    valid_from        TEXT NOT NULL,
    valid_from_us     INTEGER NOT NULL,
    valid_to          TEXT,
    valid_to_us       INTEGER,
    project_id        TEXT NOT NULL,
    authority_class   TEXT NOT NULL CHECK (authority_class IN
                          ('observed-fact', 'user-stated', 'agent-inferred', 'externally-imported')),
    instruction_taint INTEGER NOT NULL CHECK (instruction_taint IN (0, 1)),
    session_id        TEXT,                      -- a label; merged ones need no bracket of this store
    CHECK (authority_class <> 'externally-imported' OR instruction_taint = 1)
) STRICT;
CREATE TRIGGER capsule_is_frozen BEFORE UPDATE ON capsule BEGIN
    SELECT raise(ABORT, 'a capsule never changes');
END;
CREATE TRIGGER capsule_is_kept BEFORE DELETE ON capsule BEGIN
    SELECT raise(ABORT, 'a capsule is never deleted');
END;

-- What forget destroys: the content, where it came from, and all that was derived from its words. The short
-- columns come first, so that reading a headline never walks through the pages of a long content.
CREATE TABLE capsule_text (
    seq        INTEGER PRIMARY KEY REFERENCES capsule (seq),
    headline   TEXT NOT NULL,
    thread     TEXT,                             -- the label of a content that opens ACTIVE(<label>)
    handoff    INTEGER NOT NULL,                 -- captured by memory_session_finish (by its source)
    hijacked   INTEGER NOT NULL,                 -- a taint rule fires on the content
    word_count INTEGER NOT NULL,                 -- distinct words, as similarity counts them
    source     TEXT NOT NULL,
    anchor     TEXT NOT NULL,
    content    TEXT NOT NULL
) STRICT;
CREATE TRIGGER capsule_text_is_frozen BEFORE UPDATE ON capsule_text BEGIN
    SELECT raise(ABORT, 'a content never changes');
END;

-- The words of the contents, as capsules/fold.py cuts and folds them; the ascii tokenizer adds no rule of its
-- own. FTS5 keeps the words as they were indexed: taking a row out needs exactly those, and another Python may
-- cut a text differently (Unicode grows). rowid is the capsule's seq.
CREATE VIRTUAL TABLE capsule_words USING fts5 (words, tokenize = 'ascii');
-- Every indexed word with its number of capsules, and every place where a word stands.
CREATE VIRTUAL TABLE capsule_vocabulary USING fts5vocab (capsule_words, row);
CREATE VIRTUAL TABLE capsule_posting USING fts5vocab (capsule_words, instance);

-- A forgotten capsule's marker. source and anchor stay for mode redacted only.
CREATE TABLE tombstone (
    seq          INTEGER PRIMARY KEY REFERENCES capsule (seq),
    mode         TEXT NOT NULL CHECK (mode IN ('purged', 'redacted')),
    at           TEXT NOT NULL,
    reason       TEXT NOT NULL,
    content_hmac TEXT NOT NULL,
    source       TEXT,
    anchor       TEXT,
    CHECK ((mode = 'redacted') = (source IS NOT NULL AND anchor IS NOT NULL))
) STRICT;

-- Directed edges. Only the machine's own (origin import) are ever taken back.
CREATE TABLE relation (
    kind     TEXT NOT NULL CHECK (kind IN ('supersedes', 'derived_from', 'witnesses', 'blocks', 'falsifies',
                                           'proposes', 'part_of', 'grounded_in')),
    from_id  TEXT NOT NULL,                      -- cap-<n>, or out-<n> for falsifies
    to_id    TEXT NOT NULL,                      -- cap-<n>
    at       TEXT NOT NULL,
    origin   TEXT NOT NULL CHECK (origin IN ('manual', 'import')),
    from_seq INTEGER AS (CASE WHEN from_id GLOB 'cap-*' THEN CAST(substr(from_id, 5) AS INTEGER) END) STORED,
    to_seq   INTEGER AS (CAST(substr(to_id, 5) AS INTEGER)) STORED,
    PRIMARY KEY (kind, from_id, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_from ON relation (from_id);
CREATE INDEX relation_to ON relation (to_id);
CREATE INDEX relation_to_seq ON relation (to_seq, kind);
CREATE INDEX relation_from_seq ON relation (from_seq, kind);

-- The label of memory_classify, or of an ingest with a kind.
CREATE TABLE classification (
    seq   INTEGER PRIMARY KEY REFERENCES capsule (seq),
    kind  TEXT NOT NULL CHECK (kind IN ('fact', 'procedure', 'decision', 'task', 'epic', 'brainstorm', 'doc',
                                        'constraint', 'capability', 'failure_pattern')),
    scope TEXT NOT NULL CHECK (scope IN ('project', 'global', 'session')),
    at    TEXT NOT NULL
) STRICT;

-- How a claim relates to observation; each field is set by itself.
CREATE TABLE epistemics (
    seq            INTEGER PRIMARY KEY REFERENCES capsule (seq),
    evidence_state TEXT CHECK (evidence_state IN ('observed', 'inferred', 'unverified')),
    proof_hint     TEXT,
    stale_if       TEXT,
    at             TEXT NOT NULL
) STRICT;

-- When the thing told of happened, as its teller declared. Written with the capture, never later.
CREATE TABLE fact_time (
    seq           INTEGER PRIMARY KEY REFERENCES capsule (seq),
    event_from    TEXT NOT NULL,
    event_from_us INTEGER NOT NULL,
    event_to      TEXT NOT NULL,
    event_to_us   INTEGER NOT NULL,
    declared_at   TEXT NOT NULL
) STRICT;

-- The hash of the anchored file's bytes at capture.
CREATE TABLE anchor_hash (
    seq  INTEGER PRIMARY KEY REFERENCES capsule (seq),
    hash TEXT NOT NULL
) STRICT;

-- Which capsules the blocks of an imported file became. `present`: the block was there at the last import;
-- `captured`: this file's import made the capsule, rather than finding one that was there already.
CREATE TABLE import_block (
    path     TEXT NOT NULL,                      -- as resolved
    seq      INTEGER NOT NULL REFERENCES capsule (seq),
    position INTEGER NOT NULL,                   -- order in the document, at the import that saw it last
    present  INTEGER NOT NULL CHECK (present IN (0, 1)),
    captured INTEGER NOT NULL CHECK (captured IN (0, 1)),
    PRIMARY KEY (path, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_block_seq ON import_block (seq);

-- The effective tier of every capsule that is not active.
CREATE TABLE tier (
    seq  INTEGER PRIMARY KEY REFERENCES capsule (seq),
    tier TEXT NOT NULL CHECK (tier IN ('archived', 'quarantined')),
    at   TEXT NOT NULL
) STRICT;

-- Pins and unpins; the latest event of a capsule is its state.
CREATE TABLE pin_event (
    id     INTEGER PRIMARY KEY,
    seq    INTEGER NOT NULL REFERENCES capsule (seq),
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    reason TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT;

-- Embeddings as callers fed them. `revision` grows with every put, so that a cache loads only what is new.
CREATE TABLE capsule_vector (
    seq       INTEGER PRIMARY KEY REFERENCES capsule (seq),
    model_tag TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    embedding BLOB NOT NULL,                     -- little-endian float32
    revision  INTEGER NOT NULL
) STRICT;
CREATE INDEX capsule_vector_revision ON capsule_vector (revision);

-- One-way synonyms, both sides folded.
CREATE TABLE term_alias (
    term  TEXT NOT NULL,
    alias TEXT NOT NULL,
    at    TEXT NOT NULL,
    PRIMARY KEY (term, alias)
) STRICT, WITHOUT ROWID;

-- The folded terms of queries that grounded nothing in the term lane.
CREATE TABLE recall_miss (
    id      INTEGER PRIMARY KEY,
    term    TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('missing_evidence', 'abstain')),
    at      TEXT NOT NULL
) STRICT;
CREATE INDEX recall_miss_term ON recall_miss (term);

-- What a grounded recall returned, and for which question (rcpt-<id>).
CREATE TABLE receipt (
    id             INTEGER PRIMARY KEY,
    at             TEXT NOT NULL,
    terms          TEXT NOT NULL,                -- JSON array, as asked
    project_id     TEXT,
    project_prefix TEXT,
    session_id     TEXT,                         -- the fence asked for, not the capsules' label
    returned       TEXT NOT NULL                 -- JSON array of seqs, in rank order
) STRICT;
CREATE INDEX receipt_session ON receipt (session_id) WHERE session_id IS NOT NULL;

-- Advisory weights moved by scored outcomes; a capsule without a row weighs 0.5.
CREATE TABLE feedback (
    seq    INTEGER PRIMARY KEY REFERENCES capsule (seq),
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1)
) STRICT;

-- Session brackets opened here (sess-<id>).
CREATE TABLE bracket (
    id          INTEGER PRIMARY KEY,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    summary     TEXT
) STRICT;
CREATE INDEX bracket_open ON bracket (id) WHERE finished_at IS NULL;

-- Append-only observations (out-<id>) and pairwise preferences (pref-<id>).
CREATE TABLE outcome (
    id           INTEGER PRIMARY KEY,
    description  TEXT NOT NULL,
    actor        TEXT NOT NULL,
    evidence_ref TEXT,
    capsule_id   TEXT,
    receipt_id   TEXT,
    score        REAL CHECK (score BETWEEN 0 AND 1),
    at           TEXT NOT NULL,
    CHECK ((receipt_id IS NULL) = (score IS NULL))
) STRICT;
CREATE TABLE preference (
    id           INTEGER PRIMARY KEY,
    preferred_id TEXT NOT NULL,
    rejected_id  TEXT NOT NULL,
    context      TEXT NOT NULL,
    actor        TEXT NOT NULL,
    at           TEXT NOT NULL
) STRICT;

-- The journal. Each row's hash covers the row and the hash before it (store/chain.py).
CREATE TABLE audit_events (
    seq          INTEGER PRIMARY KEY,
    at           TEXT NOT NULL,
    actor        TEXT NOT NULL,
    action       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    reason       TEXT,
    chained_hash TEXT NOT NULL
) STRICT;
CREATE INDEX audit_events_subject ON audit_events (subject, seq);

-- Counters of the file. All but the last are revisions; a cache is good while its number stands.
--   graph            edges, tombstones and labels: what dag and mission are made of
--   fences           tiers, supersessions, falsifications and ends of validity: what recall leaves out
--   vectors_put      the revision of the latest put
--   vectors_gone     vectors destroyed
--   lane_overrides   explicit lanes that differed from auto
CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('graph', 0), ('fences', 0), ('vectors_put', 0), ('vectors_gone', 0), ('lane_overrides', 0);

-- One row a capsule for fences, filters and ranks. Everything but the two columns of usage follows from the
-- tables above, by the triggers below; nothing else may write it.
CREATE TABLE standing (
    seq              INTEGER PRIMARY KEY REFERENCES capsule (seq),
    project_id       TEXT NOT NULL,
    session_id       TEXT,
    forgotten        INTEGER NOT NULL DEFAULT 0,
    tier             TEXT NOT NULL DEFAULT 'active',
    superseded       INTEGER NOT NULL DEFAULT 0, -- edges that name it as target
    falsified        INTEGER NOT NULL DEFAULT 0,
    witnessed        INTEGER NOT NULL DEFAULT 0,
    pinned           INTEGER NOT NULL DEFAULT 0,
    imported         INTEGER NOT NULL,           -- externally-imported, and so tainted
    tainted          INTEGER NOT NULL,
    hijacked         INTEGER NOT NULL DEFAULT 0,
    handoff          INTEGER NOT NULL DEFAULT 0,
    thread           TEXT,
    kind             TEXT,
    word_count       INTEGER NOT NULL DEFAULT 0,
    confidence       REAL NOT NULL,
    log_confidence   REAL,
    created_us       INTEGER NOT NULL,
    valid_from_us    INTEGER NOT NULL,
    valid_to_us      INTEGER,
    recall_count     INTEGER NOT NULL DEFAULT 0, -- usage: written by recall
    last_recalled_us INTEGER                     -- usage: written by recall
) STRICT;
-- Lists in append order (the rowid ends every index), and counts that need no row.
CREATE INDEX standing_project ON standing (project_id) WHERE forgotten = 0;
CREATE INDEX standing_census ON standing (project_id, superseded) WHERE forgotten = 0;
-- What is asked of the capsules of a kind, so that counting them needs no row of theirs.
CREATE INDEX standing_kind ON standing (kind, project_id, forgotten, superseded, tier, valid_to_us)
    WHERE kind IS NOT NULL;
CREATE INDEX standing_tier ON standing (tier) WHERE tier <> 'active';
CREATE INDEX standing_expiry ON standing (valid_to_us) WHERE valid_to_us IS NOT NULL;
-- Whatever may keep a capsule from being evidence, for recall, without reading the others.
CREATE INDEX standing_fenced ON standing (tier, superseded, falsified, valid_to_us)
    WHERE tier <> 'active' OR superseded > 0 OR falsified > 0 OR valid_to_us IS NOT NULL;
CREATE INDEX standing_start ON standing (valid_from_us);
CREATE INDEX standing_session ON standing (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX standing_recalled ON standing (recall_count, last_recalled_us, project_id, forgotten)
    WHERE recall_count > 0;
CREATE INDEX standing_thread ON standing (project_id, thread) WHERE thread IS NOT NULL;
CREATE INDEX standing_handoff ON standing (project_id) WHERE handoff = 1;
CREATE INDEX standing_superseded ON standing (seq) WHERE superseded > 0;
CREATE INDEX standing_pinned ON standing (project_id, forgotten) WHERE pinned = 1;
CREATE INDEX standing_suspect ON standing (seq) WHERE imported = 1 AND hijacked = 1;
CREATE INDEX standing_forgotten ON standing (seq) WHERE forgotten = 1;

CREATE TRIGGER fences_of_new_capsule AFTER INSERT ON standing WHEN new.valid_to_us IS NOT NULL BEGIN
    UPDATE counter SET value = value + 1 WHERE name = 'fences';
END;
CREATE TRIGGER fences_of_standing AFTER UPDATE OF tier, superseded, falsified ON standing BEGIN
    UPDATE counter SET value = value + 1 WHERE name = 'fences';
END;
CREATE TRIGGER standing_of_capsule AFTER INSERT ON capsule BEGIN
    INSERT INTO standing (seq, project_id, session_id, imported, tainted, confidence, log_confidence,
                          created_us, valid_from_us, valid_to_us)
    VALUES (new.seq, new.project_id, new.session_id, new.authority_class = 'externally-imported',
            new.instruction_taint, new.confidence, new.log_confidence,
            new.created_us, new.valid_from_us, new.valid_to_us);
END;
CREATE TRIGGER standing_of_text AFTER INSERT ON capsule_text BEGIN
    UPDATE standing SET hijacked = new.hijacked, handoff = new.handoff, thread = new.thread,
                        word_count = new.word_count
    WHERE seq = new.seq;
END;
CREATE TRIGGER standing_of_lost_text AFTER DELETE ON capsule_text BEGIN
    UPDATE standing SET hijacked = 0, handoff = 0, thread = NULL, word_count = 0 WHERE seq = old.seq;
END;
CREATE TRIGGER standing_of_tombstone AFTER INSERT ON tombstone BEGIN
    UPDATE standing SET forgotten = 1 WHERE seq = new.seq;
    UPDATE counter SET value = value + 1 WHERE name = 'graph';
END;
CREATE TRIGGER standing_of_edge AFTER INSERT ON relation BEGIN
    UPDATE standing SET superseded = superseded + (new.kind = 'supersedes'),
                        falsified = falsified + (new.kind = 'falsifies'),
                        witnessed = witnessed + (new.kind = 'witnesses')
    WHERE seq = new.to_seq AND new.kind IN ('supersedes', 'falsifies', 'witnesses');
    UPDATE counter SET value = value + 1 WHERE name = 'graph';
END;
CREATE TRIGGER standing_of_lost_edge AFTER DELETE ON relation BEGIN
    UPDATE standing SET superseded = superseded - (old.kind = 'supersedes'),
                        falsified = falsified - (old.kind = 'falsifies'),
                        witnessed = witnessed - (old.kind = 'witnesses')
    WHERE seq = old.to_seq AND old.kind IN ('supersedes', 'falsifies', 'witnesses');
    UPDATE counter SET value = value + 1 WHERE name = 'graph';
END;
CREATE TRIGGER relation_is_frozen BEFORE UPDATE ON relation BEGIN
    SELECT raise(ABORT, 'an edge never changes');
END;
CREATE TRIGGER standing_of_label AFTER INSERT ON classification BEGIN
    UPDATE standing SET kind = new.kind WHERE seq = new.seq;
    UPDATE counter SET value = value + 1 WHERE name = 'graph';
END;
CREATE TRIGGER standing_of_new_label AFTER UPDATE ON classification BEGIN
    UPDATE standing SET kind = new.kind WHERE seq = new.seq;
    UPDATE counter SET value = value + 1 WHERE name = 'graph';
END;
CREATE TRIGGER standing_of_tier AFTER INSERT ON tier BEGIN
    UPDATE standing SET tier = new.tier WHERE seq = new.seq;
END;
CREATE TRIGGER standing_of_new_tier AFTER UPDATE ON tier BEGIN
    UPDATE standing SET tier = new.tier WHERE seq = new.seq;
END;
CREATE TRIGGER standing_of_pin AFTER INSERT ON pin_event BEGIN
    UPDATE standing SET pinned = new.pinned WHERE seq = new.seq;
END;
CREATE TRIGGER vector_is_put AFTER INSERT ON capsule_vector BEGIN
    UPDATE counter SET value = max(value, new.revision) WHERE name = 'vectors_put';
END;
CREATE TRIGGER vector_is_put_again AFTER UPDATE ON capsule_vector BEGIN
    UPDATE counter SET value = max(value, new.revision) WHERE name = 'vectors_put';
END;
CREATE TRIGGER vector_is_gone AFTER DELETE ON capsule_vector BEGIN
    UPDATE counter SET value = value + 1 WHERE name = 'vectors_gone';
END;
