"""Commands that measure; none of them is a test. See docs/benchmark.md."""
