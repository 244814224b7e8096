"""The companion's commands, and its composition root."""
