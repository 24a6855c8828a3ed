-- What became of a run's work: the commit, and how many lines it has changed.
ALTER TABLE runs ADD COLUMN commit_id TEXT;
ALTER TABLE runs ADD COLUMN committing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN added INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
