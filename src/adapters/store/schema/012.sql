-- What the earlier runs of a run's ticket have cost, in US dollars. Runs that were recorded before know it from their records
-- alone.
ALTER TABLE runs ADD COLUMN carried_usd REAL NOT NULL DEFAULT 0;
