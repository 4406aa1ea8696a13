"""What is looked for: everything known by name or value, and everything that has a shape.

`Detectors` is the state of one archive's redaction that does not depend on where a text is cut: the values and
names that are known, those learned on the way, and the table of stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bundler.redact import binary, hardware, literals, network, paths, secrets
from bundler.redact.literals import Literal
from bundler.redact.pseudonyms import Pseudonyms
from bundler.redact.vocabulary import may_stand_alone

_Detector = Callable[[bytes, Pseudonyms], bytes]
_BY_SHAPE: tuple[_Detector, ...] = (
    secrets.redact_tokens,
    secrets.redact_assignments,
    network.redact_urls,
    network.redact_emails,
    hardware.redact_serials,
    network.redact_ipv4,
    network.redact_ipv6_and_mac,
)


class Detectors:
    """Every detector in its order.

    Args:
        table: the stand-ins.
        values: things to replace first, wherever they stand.
        names: things to replace last, where they are names.
        known: kind and name of what needs not be learned.
        by_shape: look for tokens, addresses and the like too.
    """

    def __init__(
        self,
        table: Pseudonyms,
        values: Iterable[Literal],
        names: Iterable[Literal],
        known: Iterable[tuple[str, bytes]],
        *,
        by_shape: bool,
    ) -> None:
        self.table = table
        self._values = tuple(values)
        self._names = list(names)
        self._known = set(known)
        self._by_shape = by_shape

    def learn(self, data: bytes) -> bool:
        """Note the accounts and hosts that a text shows; say whether one was new."""
        before = len(self._names)
        for name in paths.names(data):
            self._learn("user", name)
        if self._by_shape:
            for user, host in network.shell_hosts(data):
                self._learn("user", user)
                self._learn("host", host)
        return len(self._names) > before

    def _learn(self, kind: str, name: bytes) -> None:
        if (kind, name) in self._known:
            return
        self._known.add((kind, name))
        if kind == "user" and len(name) >= 3 and name != b"root":
            self._names.append(literals.folder_name(name))
        elif kind == "host" and may_stand_alone(name, at_least=4):
            self._names.append(literals.word("host", name))

    @property
    def values_of_several_lines(self) -> tuple[bytes, ...]:
        """The known values that have line ends in them."""
        return tuple(value.needle for value in self._values if b"\n" in value.needle)

    def needles(self) -> Iterator[bytes]:
        """What must occur for a known value or name to be there."""
        for literal in (*self._values, *self._names):
            yield literal.needle

    def redact_several_lines(self, data: bytes) -> bytes:
        """What can span lines: keys in PEM, and values of variables that have line ends."""
        for literal in self._values:
            if b"\n" in literal.needle:
                data = literal.redact(data, self.table)
        return secrets.redact_private_keys(data, self.table) if self._by_shape else data

    def redact_lines(self, block: bytes) -> bytes:
        """All else, in lines that need not be neighbours in the text they come from."""
        for literal in self._values:
            if b"\n" not in literal.needle:  # distinct lines that happen to be neighbours here
                block = literal.redact(block, self.table)
        if self._by_shape:
            for detector in _BY_SHAPE:
                block = detector(block, self.table)
        block = paths.redact_homes(block, self.table)
        for literal in self._names:
            block = literal.redact(block, self.table)
        return block

    def redact_binary(self, data: bytes) -> bytes:
        """What can be replaced in binary data without moving a byte."""
        literals_here = (*self._values, *self._names)
        values = [(each.kind, each.needle) for each in literals_here if not each.needle.startswith(b"/")]
        return binary.redact_binary(data, values, self.table)
