"""The rules of The Aztec Market, in a few modules that read like the rulebook."""
