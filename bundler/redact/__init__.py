"""Replacing what is private by stable pseudonyms before anything is written."""
