"""Tables, temples and tokens as values, and the ports that they are stored through."""
