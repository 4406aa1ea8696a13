"""Replacing what is private by stable pseudonyms before anything is written."""

from bundler.redact.redactor import LEVELS, Redactor

__all__ = ["LEVELS", "Redactor"]
