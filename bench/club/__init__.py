"""What a companion costs with many tables, temples and past games, alone or beside others on one store."""
