"""The database that stores tables, temples and tokens: SQLite, or a PostgreSQL that several companions may share."""
