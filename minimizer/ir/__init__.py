"""The IR as objects: load, verify, print, count."""
