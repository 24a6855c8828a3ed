-- A run's work is in its base; the phases whose work a restore took back: a JSON list of their places, from 0.
ALTER TABLE runs ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN taken_back TEXT;
