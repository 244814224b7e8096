"""The companion's commands, and where its parts are put together."""
