"""`npubug unredact`: put the originals back, on the machine that made the archive."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bundler.archive import Archive, open_archive
from bundler.archive.formats import sniff
from bundler.errors import ExitCode, NpubugError
from bundler.pipeline.restoring import restore_archive
from bundler.printable import printable
from bundler.redact.maps import KeptMap, maps_folder, read_maps
from bundler.redact.restore import Restorer
from bundler.user_folders import state_folder

_SHOWN = 5


def run(file: Path, archive: str | None, output: Path | None) -> int:
    """Restore a text (to standard output) or an archive (to a new one beside it)."""
    folder = maps_folder(state_folder(os.environ))
    if str(file) != "-" and _is_archive(file):
        _restore_archive(open_archive(file), folder, output)
        return ExitCode.OK
    data = _read(file)
    kept = choose_map(read_maps(folder), folder, archive, data.decode("utf-8", "replace"))
    restorer = Restorer(kept.originals)
    restored = restorer.data(data)
    if output is None:
        sys.stdout.buffer.write(restored)
        sys.stdout.buffer.flush()
    else:
        output.write_bytes(restored)
    _tell(restorer, f"with the map of {printable(kept.archive, 120)}")
    return ExitCode.OK


def choose_map(maps: Sequence[KeptMap], folder: Path, named: str | None, text: str) -> KeptMap:
    """The map for a text: of the archive that is named, else of the one that the text names, else the only one.

    Raises:
        NpubugError: there is none, or it cannot be told which.
    """
    if named is not None:
        path = Path(named)
        if path.is_file():
            return _map_of(open_archive(path), maps, folder)
        fitting = [kept for kept in maps if kept.archive == path.name]
        if not fitting:
            raise _no_map(f"'{printable(named, 120)}'", folder)
        return fitting[0]
    if not maps:
        raise _no_map("any archive", folder)
    mentioned = [kept for kept in maps if kept.archive in text]
    if mentioned or len(maps) == 1:
        return (mentioned or list(maps))[0]
    names = list(dict.fromkeys(printable(kept.archive, 120) for kept in maps))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    raise NpubugError(
        "the text does not say which archive it is about",
        why=f"there are maps of {', '.join(names[:_SHOWN])}{more}",
        hint=f"npubug unredact --archive {names[0]} FILE",
        code=ExitCode.USAGE,
    )


def _map_of(archive: Archive, maps: Sequence[KeptMap], folder: Path) -> KeptMap:
    fitting = [kept for kept in maps if kept.created == archive.manifest.created]
    # Two bundles may have been made in one second: then the name decides.
    fitting.sort(key=lambda kept: kept.archive != archive.path.name)
    if not fitting:
        raise _no_map(f"'{archive.path.name}'", folder)
    return fitting[0]


def _restore_archive(archive: Archive, folder: Path, output: Path | None) -> None:
    name = archive.path.name
    stem, mark, ending = name.partition(".npubug.")
    target = output or archive.path.with_name(
        f"{stem}.unredacted{mark}{ending}" if mark else f"unredacted-{name}"
    )
    restorer = Restorer(_map_of(archive, read_maps(folder), folder).originals)
    with tempfile.TemporaryDirectory(prefix="npubug-") as scratch:
        same_input = restore_archive(archive, target, restorer, Path(scratch))
    _tell(restorer, f"wrote {target}: it names what was private, keep it to yourself")
    if same_input is not None:
        how = "is again, byte for byte, what the compiler read" if same_input else "is not quite what it was"
        print(f"npubug: the input {how}", file=sys.stderr)


def _tell(restorer: Restorer, ending: str) -> None:
    print(f"npubug: restored {sum(restorer.restored.values())} stand-ins; {ending}", file=sys.stderr)
    secret = sum(number for name, number in restorer.unknown.items() if name.startswith("secret-"))
    other = [name for name in restorer.unknown if not name.startswith("secret-")]
    if secret:
        print(f"npubug: {secret} secrets stay replaced: they are kept nowhere", file=sys.stderr)
    if other:
        print(f"npubug: not in the map: {', '.join(sorted(other)[:_SHOWN])}", file=sys.stderr)


def _is_archive(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return sniff(stream.read(4)) is not None
    except OSError as error:
        raise _unreadable(file, error) from error


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> NpubugError:
    return NpubugError(f"cannot read '{file}'", why=error.strerror or str(error), code=ExitCode.INVALID_INPUT)


def _no_map(of: str, folder: Path) -> NpubugError:
    return NpubugError(
        f"there is no map of stand-ins for {of}",
        why=f"maps are in {folder}, on the machine and in the account that made the archive",
        hint="run this there; an archive made with --redact off, or in which nothing was replaced, has no map",
        code=ExitCode.INVALID_INPUT,
    )
