"""What a companion costs with many tables, temples, tenants and past games, alone or beside others on one store."""
