"""One family of edits a file; each lists its edits on a program and applies them to a copy."""
