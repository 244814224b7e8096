"""Commands on stored data and on files: backups, exports, removals, decisions, checks and replays."""
