-- What a list of runs shows of each without reading its journal.
ALTER TABLE runs ADD COLUMN marks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN unverified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN needs TEXT;
ALTER TABLE runs ADD COLUMN parked_until INTEGER;
