"""npubug's bundling half: capture a failing compile, diagnose it, gather evidence, write one archive."""

__version__ = "0.1.0"
