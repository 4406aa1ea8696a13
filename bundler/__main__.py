"""The entry point of the `npubug` command, and of `python -m bundler`.

It does as little as it can before Ctrl-C is in our hands: importing the command line takes a tenth of a second, and
an interrupt in the middle of that must not end in a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def _leave(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)  # ExitCode.INTERRUPTED; nothing has begun that would need cleaning up


def _interrupt(number: int, frame: object) -> None:
    # Children first, or a thread of ours would wait for one. Not imported for this: without it there are none.
    kill_all = getattr(sys.modules.get("bundler.process"), "kill_all", None)
    if kill_all is not None:  # None also in the middle of its import
        kill_all()
    raise KeyboardInterrupt


def _handle(handler: Callable[[int, object], None]) -> None:
    """Let what asks us to end call `handler`, except what our parent told us to ignore (nohup)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def main() -> None:
    """Run the npubug command line."""
    _handle(_leave)
    if sys.argv[1:] == ["--version"]:  # scripts ask this often, and it needs no command line
        from bundler import __version__  # noqa: PLC0415

        print(f"npubug, version {__version__}")
        return
    from bundler import cli  # noqa: PLC0415

    _handle(_interrupt)
    cli.main()


if __name__ == "__main__":
    main()
