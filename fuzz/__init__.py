"""Fuzzing: programs that throw mutated bytes at what reads files from strangers. See docs/fuzzing.md."""
