"""What each npubug command does: options in, exit code out. One file a command; the work is done elsewhere."""
