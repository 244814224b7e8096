"""The rules of The Aztec Market, a few files that read like the rulebook. Pure."""
