-- Times are milliseconds since 1970-01-01T00:00:00Z. `run` is the hyphenated UUID.

CREATE TABLE runs (
    run         TEXT PRIMARY KEY,
    ticket      TEXT NOT NULL,
    ticket_path TEXT NOT NULL,
    folder      TEXT NOT NULL,
    state       TEXT NOT NULL,
    phase       TEXT,
    phases_done INTEGER NOT NULL,
    phases      INTEGER NOT NULL,
    iterations  INTEGER NOT NULL,
    cost_usd    REAL NOT NULL,
    reason      TEXT,
    started     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_ticket ON runs (ticket, started);
CREATE INDEX runs_by_path ON runs (ticket_path, started);

-- The journal. Everything else here sums it up.
CREATE TABLE records (
    run  TEXT NOT NULL REFERENCES runs,
    seq  INTEGER NOT NULL,
    time INTEGER NOT NULL,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE iterations (
    run      TEXT NOT NULL REFERENCES runs,
    n        INTEGER NOT NULL,
    phase    TEXT,
    started  INTEGER NOT NULL,
    ended    INTEGER,
    outcome  TEXT,
    changed  INTEGER,
    cost_usd REAL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- The rate ledger, shared by all programs of the person.
CREATE TABLE calls (
    id   INTEGER PRIMARY KEY,
    run  TEXT NOT NULL REFERENCES runs,
    n    INTEGER NOT NULL,
    time INTEGER NOT NULL
) STRICT;
CREATE INDEX calls_by_time ON calls (time);

-- Claude's sessions; `state` is the last transition's.
CREATE TABLE sessions (
    session TEXT PRIMARY KEY,
    run     TEXT NOT NULL REFERENCES runs,
    model   TEXT,
    version TEXT,
    state   TEXT NOT NULL
) STRICT;
CREATE TABLE session_transitions (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions,
    run     TEXT NOT NULL REFERENCES runs,
    n       INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    state   TEXT NOT NULL
) STRICT;
CREATE INDEX session_transitions_by_session ON session_transitions (session, id);

-- Questions to the person; answered once, by whoever is first.
CREATE TABLE approvals (
    id       TEXT PRIMARY KEY,
    run      TEXT NOT NULL REFERENCES runs,
    asked    INTEGER NOT NULL,
    question TEXT NOT NULL,
    answered INTEGER,
    answer   TEXT,
    by       TEXT
) STRICT;

CREATE TABLE tickets_seen (
    path   TEXT PRIMARY KEY,
    ticket TEXT NOT NULL,
    title  TEXT NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
