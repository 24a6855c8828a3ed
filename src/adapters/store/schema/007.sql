-- Ticket files that the person has taken out of the table.
CREATE TABLE archived (
    ticket_path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
