"""The `npubug` command: options and exit codes, no logic.

Everything heavy is imported inside the commands, so that `--help` answers at once. Exit codes are in
`bundler.errors.ExitCode` and docs/exit-codes.md.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import click

from bundler import __version__
from bundler.errors import ExitCode, NpubugError

_ARCHIVE = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
_compiler = click.option(
    "--compiler", type=click.Path(path_type=Path), help="The compiler binary (default: look for one)."
)
_flags = click.option("--flags", help="Compiler flags instead of triton-ascend's defaults, as one string.")
_timeout = click.option(
    "--timeout", type=float, default=600.0, show_default=True, help="Seconds for one compile."
)

_max_size = click.option(
    "--max-size",
    metavar="SIZE",
    help="Leave out logs and healthy calls, in a fixed order, until the archive fits: 20M, 500k.",
)
_redact = click.option(
    "--redact",
    type=click.Choice(["full", "paths", "off"]),
    default="full",
    show_default=True,
    help="What to replace: everything private; home paths, user names and --redact-word only; nothing.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="npubug")
def npubug() -> None:
    """From a failing Triton kernel on an Ascend NPU to a checked bug archive and a minimal reproducer."""


@npubug.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--ir", type=click.Path(path_type=Path), help="Bundle this IR file instead of running a command."
)
@click.option(
    "--cache",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Bundle from this triton cache.  [without DIR: TRITON_CACHE_DIR, or ~/.triton/cache]",
)
@click.option(
    "--dump",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Bundle from this dump folder of TRITON_DEBUG=1.  [without DIR: ~/.triton/dump]",
)
@click.option("--log", type=_ARCHIVE, help="A saved terminal log: argv, cache folder and failure are in it.")
@click.option("--kernel", help="With --cache or --dump: the kernel of this name.")
@click.option("--hash", help="With --cache or --dump: the folder whose name begins so.")
@click.option("--latest", is_flag=True, help="With --cache or --dump: the newest kernel, compiled or not.")
@click.option("--list", "as_list", is_flag=True, help="With --cache or --dump: list the kernels, and stop.")
@click.option("-o", "--output", type=_ARCHIVE, default=Path(), help="A folder, or the archive's name.")
@click.option("--always", is_flag=True, help="Write an archive even if nothing failed in the compiler.")
@_max_size
@_redact
@click.option("--redact-word", "words", multiple=True, help="One more word to replace; repeatable.")
@click.option("--show-redactions", is_flag=True, help="List what is replaced, and ask before writing.")
@click.option("--yes", is_flag=True, help="With --show-redactions: list, and write without asking.")
@click.option("--run-timeout", type=float, help="Seconds after which the command is ended (a hang).")
@click.option(
    "--via-path/--no-via-path",
    default=None,
    help="Record through stand-ins of the compiler on PATH.  [default: if COMMAND is no plain Python]",
)
@_compiler
@_flags
@_timeout
@_json
def bundle(**options: Any) -> None:
    """Run COMMAND, record its failing compile, and write an archive of everything a maintainer needs.

    \b
    npubug bundle -- python my_kernel.py
    npubug bundle --ir kernel.ttadapter
    npubug bundle --cache --kernel my_kernel
    npubug bundle --log terminal.log
    """
    from bundler.commands import bundle as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("archive", type=_ARCHIVE)
@_json
def check(**options: Any) -> None:
    """Is ARCHIVE valid, and what would a maintainer still ask for?  Exit: 0 complete, 3 incomplete, 4 invalid."""
    from bundler.commands import check as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("archive", type=_ARCHIVE, required=False)
@click.option(
    "--html",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write one self-contained page instead; - for standard output.  [without FILE: beside ARCHIVE]",
)
@_json
def show(**options: Any) -> None:
    """Tell the story of ARCHIVE on one screen, or as a page."""
    from bundler.commands import show as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("a", type=_ARCHIVE)
@click.argument("b", type=_ARCHIVE)
@_json
def diff(**options: Any) -> None:
    """What differs between archives A and B: failure, flags, environment, IR (by structure), passes."""
    from bundler.commands import diff as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("folder", type=_ARCHIVE)
@_json
def dedupe(**options: Any) -> None:
    """Group the archives in FOLDER by failure, the largest group first."""
    from bundler.commands import dedupe as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("archive", type=_ARCHIVE)
@click.option("--format", type=click.Choice(["tar.zst", "tar.gz", "zip"]), help="The kind of file to write.")
@_max_size
@click.option("-o", "--output", type=_ARCHIVE, help="A folder, or the name.  [default: beside ARCHIVE]")
@_json
def repack(**options: Any) -> None:
    """Write ARCHIVE in another format, or small enough for a tracker.

    \b
    npubug repack my_kernel-….npubug.tar.zst --format zip
    npubug repack my_kernel-….npubug.tar.zst --max-size 20M
    """
    from bundler.commands import repack as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file", type=_ARCHIVE)
@click.option("--all", "everything", is_flag=True, help="List also the passes that changed nothing.")
@click.option(
    "--diff", metavar="PASS", help="Show the IR before and after this pass (its argument or number)."
)
@click.option("--grep", metavar="REGEX", help="Say after which pass this first appears and last lives.")
@_json
def passes(**options: Any) -> None:
    """What did each pass do? FILE is an archive, or a log made with --mlir-print-ir-after-all.

    \b
    npubug passes my_kernel-….npubug.tar.zst
    npubug passes my_kernel-….npubug.tar.zst --diff one-shot-bufferize
    npubug passes my_kernel-….npubug.tar.zst --grep 'memref<524288xf32'
    """
    from bundler.commands import passes as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file", type=_ARCHIVE)
@click.option("--deadline", help="Stop the search after this time: 90s, 30m, 2h.  [default: none]")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Compiles at the same time.  [default: all cores]")
@click.option(
    "-o", "--output", type=_ARCHIVE, help="The reduced file.  [default: NAME.reduced.SUFFIX beside FILE]"
)
@click.option("--test", help="A script instead of the failure signature: exit 0 = still interesting.")
@click.option("--text", is_flag=True, help="Reduce as text (brackets, lines, tokens), not as IR.")
@click.option(
    "--match",
    type=click.Choice(["exact", "normal", "kind"]),
    default="normal",
    show_default=True,
    help="How alike a candidate's failure must be.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    help="First compiles, for a failure that comes only sometimes.  [default: 1, or what the archive says]",
)
@_compiler
@_flags
@_timeout
@_json
def minimize(**options: Any) -> None:
    """Shrink the compiler input in FILE (an archive, or an IR file) while the same failure reproduces.

    \b
    npubug minimize my_kernel-….npubug.tar.zst --deadline 30m
    npubug minimize kernel.ttadapter
    npubug minimize kernel.ttadapter --test './interesting.sh'
    """
    from bundler.commands import minimize as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Compiles of an IR file.")
@_compiler
@_flags
@_timeout
@_json
def diagnose(**options: Any) -> None:
    """What failed? FILE is a log (or - for standard input), or an IR file, which is compiled.

    \b
    python my_kernel.py 2>&1 | npubug diagnose -
    npubug diagnose --runs 20 kernel.ttadapter
    """
    from bundler.commands import diagnose as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("archive", type=_ARCHIVE)
@click.option(
    "--to",
    type=click.Choice(["auto", "npuir", "triton-distributed", "triton-ascend"]),
    default="auto",
    show_default=True,
    help="The tracker; auto chooses it by stage and pass, and says why.",
)
@click.option("--lang", type=click.Choice(["zh", "en", "both"]), default="both", show_default=True)
@click.option(
    "-o", "--output", type=_ARCHIVE, help="Write the text to this file.  [default: standard output]"
)
@click.option(
    "--search", is_flag=True, help="First list the tracker's open issues with words of this failure."
)
@click.option("--submit", is_flag=True, help="Show the text, ask, and post it.")
@click.option("--yes", is_flag=True, help="With --submit: post without asking, for scripts.")
@click.option("--api-url", help="Another address of the tracker's API, such as an enterprise server's.")
@_json
def issue(**options: Any) -> None:
    """Write the text of an issue about ARCHIVE, in the form that its tracker asks for.

    --submit needs a token in NPUBUG_GITCODE_TOKEN or NPUBUG_GITHUB_TOKEN, or asks for one.

    \b
    npubug issue my_kernel-….npubug.tar.zst --to npuir --lang zh -o issue.md
    npubug issue my_kernel-….npubug.tar.zst --search --submit
    """
    from bundler.commands import issue as command

    raise SystemExit(command.run(**options))


@npubug.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="ARCHIVE | FILE | -- COMMAND")
@click.option(
    "--install", metavar="HASH", help="Compile this cached kernel with the flag; replace its binary."
)
@click.option("--restore", metavar="HASH", help="Put the original binary back.")
@click.option("--cache", type=_ARCHIVE, help="The cache of --install and --restore.  [default: triton's]")
@click.option("--kernel", help="With a command: the kernel of this name.")
@_compiler
@_flags
@_timeout
@_json
def barrier(**options: Any) -> None:
    """Does --enable-hivm-inject-barrier-all-sync help, and which other flag does? Compiles only.

    \b
    npubug barrier my_kernel-….npubug.tar.zst
    npubug barrier -- python my_kernel.py
    npubug barrier --install xiXeOlKY; python my_kernel.py; npubug barrier --restore xiXeOlKY
    """
    from bundler.commands import barrier as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file", type=_ARCHIVE)
@click.option(
    "--compiler", "compilers", type=click.Path(path_type=Path), multiple=True, help="A compiler; repeatable."
)
@click.option("--all-compilers", is_flag=True, help="Every compiler of that name that is found here.")
@click.option("--reduced", is_flag=True, help="Replay the archive's reduced input.")
@click.option(
    "--runs", type=click.IntRange(1), help="Compiles until it fails.  [default: 1, 10 if it is flaky]"
)
@_flags
@_timeout
@_json
def replay(**options: Any) -> None:
    """Does FILE (an archive, or an IR file) fail here, with the same signature?

    Exit: 0 reproduced, 3 a different failure, 2 fixed, 5 cannot run.
    """
    from bundler.commands import replay as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file", type=_ARCHIVE)
@click.option("-o", "--output", type=_ARCHIVE, default=Path(), help="The folder for the two files.")
@click.option("--reduced", is_flag=True, help="Locate the failure of the archive's reduced input.")
@_compiler
@_flags
@_timeout
@_json
def locate(**options: Any) -> None:
    """Which pass of FILE's compile fails? Writes the IR just before it and a --run-reproducer file.

    Exit: 0 with a reproducer that was seen to fail alone, 3 without.
    """
    from bundler.commands import locate as command

    raise SystemExit(command.run(**options))


@npubug.command()
@_json
def doctor(**options: Any) -> None:
    """Can this machine bundle, minimise and replay? Each missing piece with the way to get it."""
    from bundler.commands import doctor as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.option("--python", type=click.Path(path_type=Path), help="The user's Python.  [default: this one]")
@click.option("--format", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
@click.option("--json", "format", flag_value="json", help="The same as --format json.")
@_redact
def env(**options: Any) -> None:
    """Print what is known of this machine: versions, NPU, CANN, driver, with the source or why it is unknown."""
    from bundler.commands import env as command

    raise SystemExit(command.run(**options))


@npubug.command()
@click.argument("file", type=_ARCHIVE)
@click.option("--archive", help="The archive, or its name, that FILE is about.  [default: told from FILE]")
@click.option(
    "-o", "--output", type=_ARCHIVE, help="Where to write.  [default: standard output; ARCHIVE.unredacted…]"
)
def unredact(**options: Any) -> None:
    """Put the originals back into FILE: a maintainer's answer (- for standard input), or an archive.

    Works where the archive was made: the map of the stand-ins never leaves this machine, and holds no secrets.
    """
    from bundler.commands import unredact as command

    raise SystemExit(command.run(**options))


def main() -> None:
    """Run the command line; every error ends here as a message and a documented exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows ASCII alone is no reason to fail
    try:
        npubug.main(standalone_mode=False)
    except NpubugError as error:
        if "--json" in sys.argv:
            print(json.dumps(error.as_dict(), ensure_ascii=False))
        _complain(str(error), error.code)
    except SystemExit:
        if type(sys.stdout).__name__.endswith(
            "PacifyFlushWrapper"
        ):  # what click leaves behind after `| head`
            sys.exit(ExitCode.OK)
        raise
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(ExitCode.USAGE)
    except click.ClickException as error:
        _complain(f"error: {error.format_message()}", ExitCode.FAILED)
    except (click.Abort, KeyboardInterrupt):
        from bundler.process import kill_all

        kill_all()
        # CPython remembers an interrupt that passed through `exec` (namedtuples and dataclasses are made by it)
        # as unhandled, and would end us by the signal in spite of our exit code; a fresh `exec` makes it forget.
        exec("")
        _complain("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error, and nothing left to tell it.
        sys.stderr.close()
        sys.exit(ExitCode.OK)
    except OSError as error:
        _complain(
            f"error: {error}\n  try: check the path, its permissions and the free space", ExitCode.FAILED
        )
    except Exception as error:
        _own_bug(error)


def _own_bug(error: Exception) -> None:
    """A bug of ours: a short word for the person, the traceback in a file for whoever mends it."""
    import tempfile
    import traceback

    where = ""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="npubug-bug-", suffix=".txt", delete=False) as file:
            file.write("".join(traceback.format_exception(type(error), error, error.__traceback__)))
            where = file.name
    except OSError:
        pass  # a full disk may be what went wrong in the first place
    told = NpubugError(
        "npubug itself has a bug",
        why=f"{type(error).__name__}: {error}"[:300],
        hint=f"please report it, with {where}" if where else "please report it",
    )
    _complain(str(told), told.code)


def _complain(text: str, code: ExitCode) -> None:
    print(text, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
