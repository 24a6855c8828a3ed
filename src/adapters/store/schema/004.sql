-- What the person asks of a run from another process, until the run has noted it.
CREATE TABLE wishes (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT NOT NULL REFERENCES runs,
    time    INTEGER NOT NULL,
    command TEXT NOT NULL
) STRICT;
