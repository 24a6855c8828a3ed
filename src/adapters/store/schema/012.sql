-- What the earlier runs of a run's ticket have cost, in US dollars.
ALTER TABLE runs ADD COLUMN carried_usd REAL NOT NULL DEFAULT 0;
UPDATE runs SET carried_usd = coalesce(
    (SELECT json ->> '$.cost_usd' FROM records WHERE records.run = runs.run AND kind = 'work_carried' LIMIT 1), 0);
