-- What a call was for: asked for twice, it is counted once.
ALTER TABLE calls ADD COLUMN purpose TEXT NOT NULL DEFAULT 'iteration';
CREATE INDEX calls_by_run ON calls (run, n);
-- Here and below: when it was noticed that the clock was set back behind the row; NULL while it is not.
ALTER TABLE calls ADD COLUMN noticed INTEGER;
-- What its iteration may still spend, reserved until it ends; after `until` it is lost. NULL: nothing is reserved.
ALTER TABLE calls ADD COLUMN usd REAL NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN until INTEGER;
CREATE INDEX calls_by_until ON calls (until) WHERE until IS NOT NULL;

-- What was spent and when: USD as the runs' costs grew, tokens as turns ended. `counted` are those that count for the hour.
CREATE TABLE spends (
    id      INTEGER PRIMARY KEY,
    run     TEXT NOT NULL REFERENCES runs,
    time    INTEGER NOT NULL,
    usd     REAL NOT NULL,
    tokens  INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    noticed INTEGER
) STRICT;
CREATE INDEX spends_by_time ON spends (time);
CREATE INDEX spends_by_run ON spends (run);

-- The provider's windows as it last told of them.
CREATE TABLE provider_windows (
    kind TEXT PRIMARY KEY,
    seen INTEGER NOT NULL,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the provider refuses: nothing is tried before `until`, and then by one run, which has `probe_until` to find out.
CREATE TABLE holds (
    scope       TEXT PRIMARY KEY,
    about       TEXT NOT NULL,
    until       INTEGER NOT NULL,
    reset       TEXT NOT NULL,
    tries       INTEGER NOT NULL,
    seen        INTEGER NOT NULL,
    probe       TEXT,
    probe_until INTEGER,
    noticed     INTEGER
) STRICT, WITHOUT ROWID;
