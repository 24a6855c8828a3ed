-- The worktree that a run works in, as JSON.
ALTER TABLE runs ADD COLUMN worktree TEXT;
