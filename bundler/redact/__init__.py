"""Replacing what is private by stable pseudonyms before anything is written."""

from bundler.redact.binary import Classifier
from bundler.redact.examples import Example
from bundler.redact.redactor import LEVELS, Redactor

__all__ = ["LEVELS", "Classifier", "Example", "Redactor"]
