-- The reference server's memory. One file, any number of tenants, any number of processes.
--
-- Every row names its tenant and every index starts with it, so that no query can reach, or be slowed
-- by, what belongs to another. Instants are UTC texts of one fixed width (2026-06-12T08:30:00.000000Z):
-- they sort as they happened. Tables are STRICT: a wrong type is a bug and must not hide.

-- What is true of the file as a whole: brain_id (16 random bytes in hex, for the usage log).
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One remembered fact. Rows are never deleted: a forgotten or superseded fact keeps its row, with
-- expired_at set, as the audit trail. AUTOINCREMENT, so that no id ever means two facts.
CREATE TABLE fact (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant         TEXT NOT NULL,
    entity_slug    TEXT,
    fact           TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('event', 'preference', 'commitment', 'belief', 'fact')),
    visibility     TEXT NOT NULL CHECK (visibility IN ('world', 'private')),
    provenance     TEXT NOT NULL,
    source_session TEXT,
    created_at     TEXT NOT NULL,
    valid_until    TEXT,             -- NULL: never expires by itself
    expired_at     TEXT,             -- set by forget and by supersession
    expired_reason TEXT,
    superseded_by  INTEGER REFERENCES fact (id),
    same_text      BLOB NOT NULL,    -- digest of the text with case and white space folded: finds duplicates
    vector_model   TEXT,             -- vectors of different models can't be compared
    vector         BLOB              -- float32, of length 1
) STRICT;

-- recall, newest first, with and without an entity (the rowid, which is the id, ends every index).
CREATE INDEX fact_of_tenant ON fact (tenant);
CREATE INDEX fact_of_entity ON fact (tenant, entity_slug);
CREATE INDEX fact_of_session ON fact (tenant, source_session) WHERE source_session IS NOT NULL;
-- The card counts an entity's live facts without touching the table. (expired_at is always NULL in it, but
-- SQLite looks the column up all the same.)
CREATE INDEX fact_live ON fact (tenant, entity_slug, visibility, valid_until, expired_at) WHERE expired_at IS NULL;
-- The card's commitments, and the candidates that a new fact may supersede.
CREATE INDEX fact_live_kind ON fact (tenant, entity_slug, kind) WHERE expired_at IS NULL;
-- The same without an entity: delta's open commitments.
CREATE INDEX fact_live_of_kind ON fact (tenant, kind) WHERE expired_at IS NULL;
CREATE INDEX fact_same_text ON fact (tenant, same_text) WHERE expired_at IS NULL;
CREATE INDEX fact_successor ON fact (superseded_by) WHERE superseded_by IS NOT NULL;
-- delta, and the stamp of the next change.
CREATE INDEX fact_created ON fact (tenant, created_at);

-- One page: Markdown as it was put, and what was read out of it once, so that no read has to parse it.
CREATE TABLE page (
    id           INTEGER PRIMARY KEY,
    tenant       TEXT NOT NULL,
    slug         TEXT NOT NULL,
    tail         TEXT NOT NULL,      -- the slug's last segment: finds people/alice by "alice"
    title        TEXT NOT NULL,
    folded_title TEXT NOT NULL,
    type         TEXT,
    content      TEXT NOT NULL,      -- verbatim, private parts included
    public_body  TEXT NOT NULL,      -- the body without its private parts
    summary      TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    vector_model TEXT,
    vector       BLOB,
    UNIQUE (tenant, slug)
) STRICT;

-- The last column of each decides ties: the page touched last comes first.
CREATE INDEX page_title ON page (tenant, folded_title, updated_at);
CREATE INDEX page_tail ON page (tenant, tail, updated_at);
CREATE INDEX page_updated ON page (tenant, updated_at, slug);

-- Other names of a page. `touched` repeats the page's updated_at, so that ties need no join.
CREATE TABLE alias (
    tenant  TEXT NOT NULL,
    folded  TEXT NOT NULL,
    touched TEXT NOT NULL,
    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    alias   TEXT NOT NULL,
    PRIMARY KEY (tenant, folded, touched, page_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_of_page ON alias (page_id, ordinal);

-- Links of a page. Typed ones stand in its front matter; a [[slug]] in the body is a mention. The target
-- is a slug and need not exist yet.
CREATE TABLE link (
    id      INTEGER PRIMARY KEY,
    tenant  TEXT NOT NULL,
    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    target  TEXT NOT NULL,
    type    TEXT NOT NULL,
    context TEXT
) STRICT;
-- Mentions outnumber everything else and no card shows them: both indexes leave them out.
CREATE INDEX link_out ON link (page_id) WHERE type <> 'mentions';
CREATE INDEX link_in ON link (tenant, target) WHERE type <> 'mentions';
CREATE INDEX link_of_page ON link (page_id);

-- How many typed links point at a slug. Counted as they change: a hub may have a million.
CREATE TABLE backlink (
    tenant TEXT NOT NULL,
    target TEXT NOT NULL,
    links  INTEGER NOT NULL,
    PRIMARY KEY (tenant, target)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER link_added AFTER INSERT ON link WHEN new.type <> 'mentions' BEGIN
    INSERT INTO backlink (tenant, target, links) VALUES (new.tenant, new.target, 1)
    ON CONFLICT (tenant, target) DO UPDATE SET links = links + 1;
END;
CREATE TRIGGER link_removed AFTER DELETE ON link WHEN old.type <> 'mentions' BEGIN
    UPDATE backlink SET links = links - 1 WHERE tenant = old.tenant AND target = old.target;
END;

-- Dated entries of a page's timeline.
CREATE TABLE timeline (
    id      INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    date    TEXT NOT NULL,           -- 2026-06-12
    text    TEXT NOT NULL
) STRICT;
CREATE INDEX timeline_of_page ON timeline (page_id, date);

-- Full text of the pages' public parts. Words are cut by the server (store/words.py), so that text
-- without spaces is found too; `scope` holds one word that stands for the tenant.
CREATE VIRTUAL TABLE page_words USING fts5 (
    scope, names, body, tokenize = 'unicode61 remove_diacritics 2'
);
-- Titles and aliases alone: near misses of a name. Small, since the card's deadline hangs on it.
CREATE VIRTUAL TABLE name_words USING fts5 (
    scope, names, tokenize = 'unicode61 remove_diacritics 2'
);

-- Full text of the facts, for a query without an entity. Contentless: the text stands in fact, and no row
-- is ever changed or deleted.
CREATE VIRTUAL TABLE fact_words USING fts5 (
    scope, body, content = '', tokenize = 'unicode61 remove_diacritics 2'
);

-- When a page was last shown to somebody. Beside the page: a read must not count as a change.
CREATE TABLE retrieval (
    tenant       TEXT NOT NULL,
    slug         TEXT NOT NULL,
    retrieved_at TEXT NOT NULL,
    PRIMARY KEY (tenant, slug)
) STRICT, WITHOUT ROWID;

-- Up to where a session has read the changes (delta).
CREATE TABLE session_cursor (
    tenant     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    since      TEXT NOT NULL,
    slug       TEXT NOT NULL,
    PRIMARY KEY (tenant, session_id)
) STRICT, WITHOUT ROWID;
