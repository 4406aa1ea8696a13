"""The entry point of the `npubug` command, and of `python -m bundler`.

It does as little as it can before Ctrl-C is in our hands: importing the command line takes a tenth of a second, and
an interrupt in the middle of that must not end in a traceback.
"""

import os
import signal


def _leave(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)  # ExitCode.INTERRUPTED; nothing has begun that would need cleaning up


def main() -> None:
    """Run the npubug command line."""
    signal.signal(signal.SIGINT, _leave)
    from bundler import cli  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
