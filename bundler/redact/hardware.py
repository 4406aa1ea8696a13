"""Serial numbers and unique ids of devices, as `npu-smi info -t board`, `-t product`, dmidecode and lspci
label them.

Only labelled values: a bare hexadecimal number is evidence more often than a serial.
"""

from __future__ import annotations

import re

from bundler.redact.pseudonyms import Pseudonyms, is_pseudonym

_LABELS = (
    (b"serial", rb"serial(?:[ _-]?(?:number|num|no\.?))?"),
    (b"uuid", rb"uuid"),
    (b"die id", rb"(?:vdie|ndie|die) id"),
    (b"die_id", rb"(?:vdie|ndie|die)_id"),
    (b"asset tag", rb"asset tag"),
)
# A serial has digits in it (`serial: unknown` has none); VDie IDs are five groups of hexadecimal digits.
_VALUE = (
    rb"(?:\\?[\"'])?[ \t]{0,60}[:=][ \t]{0,8}(?:\\?[\"'])?"
    rb"(?P<value>[0-9a-f]{8}(?: [0-9a-f]{8}){1,7}"
    rb"|(?=[a-z._-]{0,63}[0-9])[a-z0-9][a-z0-9._-]{4,63})"
)
_PATTERNS = tuple((needle, re.compile(rb"(?<![a-z])" + label + _VALUE)) for needle, label in _LABELS)


def redact_serials(data: bytes, table: Pseudonyms) -> bytes:
    """Replace labelled serial numbers and unique ids."""
    lower = data.lower()
    spans = sorted(
        match.span("value")
        for needle, pattern in _PATTERNS
        if needle in lower
        for match in pattern.finditer(lower)
    )
    pieces: list[bytes] = []
    last = 0
    for start, end in spans:
        value = data[start:end]
        if start >= last and not is_pseudonym(value):
            pieces += (data[last:start], table.of("serial", value))
            last = end
    return b"".join((*pieces, data[last:])) if pieces else data
