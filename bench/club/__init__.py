"""What a companion costs: many tables, temples, past games and hosted clubs, alone or beside others on one store."""
