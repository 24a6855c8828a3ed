-- What the steps that only look at the work have cost a run: a JSON list.
ALTER TABLE runs ADD COLUMN aside TEXT;
