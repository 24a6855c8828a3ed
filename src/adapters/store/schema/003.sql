-- What the clock said when the machine, started as `boot`, was `up` milliseconds old: the clock may be set, that age not.
CREATE TABLE clock (
    boot TEXT PRIMARY KEY,
    wall INTEGER NOT NULL,
    up   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
