"""The rules of the siege: pure functions over one frozen state."""
