"""What to search a tracker for: the words of a failure that others with the same failure have too."""

from __future__ import annotations

from bundler.compiler.signature import normalise, stable_parts
from bundler.manifest import SignatureRecord

_SHORTEST = 8
_MOST = 5


def phrases_of(signature: SignatureRecord) -> tuple[str, ...]:
    """The phrases, the most telling first: long stretches of the message, the pass, a frame, the id."""
    message = normalise(signature.message.partition("\n")[0])
    parts = [part.strip(" ,.:;'\"()!") for part in stable_parts(message)]
    told = sorted((part for part in parts if len(part) >= _SHORTEST), key=len, reverse=True)
    others = [signature.pass_name or "", *signature.frames[:1], signature.id]
    if not told:
        others.append(signature.kind)
    return tuple(dict.fromkeys(phrase[:120] for phrase in (*told, *others) if phrase))[:_MOST]
