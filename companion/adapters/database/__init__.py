"""What speaks to the database that holds tables, temples and tokens: SQLite, or PostgreSQL that several share."""
