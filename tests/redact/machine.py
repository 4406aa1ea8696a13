"""A redactor that knows nothing of the machine the tests run on."""

from __future__ import annotations

from typing import Any

from bundler.redact import Redactor

NOBODY: dict[str, Any] = {"environ": {}, "home": "", "user": "", "hostname": ""}


def redactor(**options: Any) -> Redactor:
    """A redactor for a machine of which only `options` are known."""
    return Redactor(**{**NOBODY, **options})
