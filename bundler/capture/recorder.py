"""Runs inside the user's Python and notices its compiler calls, without a trace in what the program does.

The one place touched in every process is `Popen._get_handles`, a step of `__init__` before the child is
made: wrapping `__init__` itself would put a line of ours into the traceback of every program that is not
found. Only a Popen that starts a compiler tool is changed further: it becomes an instance of a subclass that
notices the end. Nothing is wrapped before the program imports subprocess; nothing else is loaded before its
first compile.

Standard library only, Python 3.8 to 3.13. Whatever fails in here is noted in the record folder, and the
program goes on. Copied to the hook folder with its siblings (see `session`); `startup` calls
`install`.
"""

# ruff: noqa: PLC0415, PLW0603, PTH109, PTH118, PTH119, SIM105
# No pathlib or contextlib, and late imports: each one at the top is time taken from the user's program.
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any

DIR_VARIABLE = "NPUBUG_RECORD_DIR"
STACKS_VARIABLE = "NPUBUG_RECORD_STACKS"  # set where a hang will be ended: write the stacks when asked
CALL_CAP_VARIABLE = "NPUBUG_RECORD_CALL_BYTES"
TOTAL_CAP_VARIABLE = "NPUBUG_RECORD_TOTAL_BYTES"
RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
TOOLS = (
    *("triton-adapter-opt", "bishengir-compile", "bishengir-compile-a5", "bishengir-opt", "bishengir-opt-a5"),
    *("hivmc", "hivmc-a5", "npuc"),
)
_CALL = "_npubug_call"  # the attribute of a Popen that holds its Call
_subclasses: dict[type, type] = {}
_installed = 0  # the pid in which it was
_process = 0  # the pid of the process that was written down last
_store: Any = None


def install() -> None:
    """Start recording in this interpreter, if the environment says where to. Called by the start-up hook."""
    global _installed
    folder = os.environ.get(DIR_VARIABLE)
    if not folder or _installed:  # a capture within a capture has two hooks
        return
    _installed = os.getpid()
    try:
        os.close(os.open(os.path.join(folder, "seen"), os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        pass
    import atexit

    atexit.register(_at_exit)
    if any(name in os.environ for name in RANK_VARIABLES):
        try:
            _note_process(_open_store())  # so that a rank which hangs or dies before it compiles is known too
        except Exception as error:
            _note(f"a rank was not noted: {error!r}")
    if "subprocess" in sys.modules:
        _wrap(sys.modules["subprocess"])
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Waits in `sys.meta_path` for the import of subprocess, and goes away with it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, with a loader that wraps the module once it is there."""
        if name != "subprocess":
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for finder in sys.meta_path:
            # Before Python 3.12 a finder may know only the older find_module.
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Loads through another loader, wraps the module, and leaves the other one as the module's loader."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        """As the other loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """As the other loader does; then wrap."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _wrap(module)


def _wrap(module: Any) -> None:
    try:
        original = module.Popen._get_handles
    except AttributeError:
        _note("this Python's subprocess has no Popen._get_handles: nothing can be recorded")
        return

    def _get_handles(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            # The caller is Popen.__init__; its arguments are not all kept on the object.
            _popen_starts(self, sys._getframe(1))
        except Exception as error:
            _note(f"a call was not recorded: {error!r}")
        return original(self, *args, **kwargs)

    module.Popen._get_handles = _get_handles


def _popen_starts(popen: Any, frame: Any) -> None:
    arguments = frame.f_locals
    argv = _command_line(arguments.get("args"), arguments.get("shell"))
    if not argv or os.path.basename(argv[0]) not in TOOLS:
        return
    store = _open_store()
    from . import uncaught
    from .recording import Call

    uncaught.watch(store, __file__)
    _note_process(store)
    cwd = os.getcwd()
    if arguments.get("cwd") is not None:
        cwd = os.path.join(cwd, os.fsdecode(arguments["cwd"]))
    environment = arguments.get("env")
    if environment is None:
        environment = os.environ
    environment = {os.fsdecode(key): os.fsdecode(value) for key, value in environment.items()}
    piped = tuple(name for name in ("stdout", "stderr") if arguments.get(name) == -1)
    call = Call(store, argv, cwd, environment, piped, _launch_facts(frame))
    popen.__dict__[_CALL] = call
    cls = type(popen)
    if cls not in _subclasses:
        _subclasses[cls] = _recorded(cls)
    popen.__class__ = _subclasses[cls]


def _launch_facts(frame: Any) -> Any:
    try:
        from .launch import facts

        return facts(frame.f_back)
    except Exception as error:
        _note(f"how the kernel is launched was not recorded: {error!r}")
        return None


def _note_process(store: Any) -> None:
    """Write down this process, once: who it is of several ranks, and, by a line at its end, that it had one."""
    global _process
    if _process == os.getpid():
        return
    _process = os.getpid()
    import time

    from .recording import relevant

    begin = {
        "pid": _process,
        "time": time.time(),
        "argv": list(getattr(sys, "argv", [])),
        "environment": relevant(os.environ),
        "tells_end": _process == _installed,  # what was forked may end without running exit functions
    }
    try:
        store.append_json(_process_file(store), begin)
        _dump_stacks_when_asked(store)
    except Exception as error:
        _note(f"process {_process} was not noted: {error!r}")


def _process_file(store: Any) -> str:
    return os.path.join(store.folder, f"process-{os.getpid()}.jsonl")


def _dump_stacks_when_asked(store: Any) -> None:
    """Make SIGUSR2, if the program has no use for it, write the stacks: sent before a hanging run is ended.

    Only in a run with a time limit: elsewhere that signal ends the program, and that is its own affair.
    """
    if STACKS_VARIABLE not in os.environ:
        return
    import faulthandler
    import signal

    if signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL:
        path = os.path.join(store.folder, f"stack-{_process}.txt")
        faulthandler.register(signal.SIGUSR2, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))


def _command_line(args: Any, shell: Any) -> list[str] | None:
    """The words of a command line, or None if only a shell can tell them."""
    if isinstance(args, (str, bytes)) or hasattr(args, "__fspath__"):
        text = os.fsdecode(args)
        if not shell:
            return [text]
        if not any(tool in text for tool in TOOLS):
            return None
        import shlex

        words = shlex.split(text)
        if any(mark in text for mark in "|&;<>()$`*?\n"):
            _note(f"a shell command that may run a compiler was not recorded: {text:.500}")
            return None
        return words
    return None if shell else [os.fsdecode(word) for word in args]


def _recorded(cls: Any) -> Any:
    """A subclass of a Popen class whose instances notice their end. It goes by the name of that class."""

    class Recorded(cls):  # type: ignore[misc]
        @property
        def returncode(self) -> Any:
            """Set by whoever learns first that the child has ended: wait, poll, a context's exit, asyncio."""
            return self.__dict__.get("returncode")

        @returncode.setter
        def returncode(self, value: Any) -> None:
            self.__dict__["returncode"] = value
            _popen_may_have_ended(self)

        def _try_wait(self, wait_flags: Any) -> Any:
            """As in every Python from 3.8 on, by a call that also tells what memory the tool took."""
            call = self.__dict__[_CALL]
            # Elsewhere an interrupt may come while it blocks, and show this line in place of the original one.
            if not (call.reading and call.piped):
                return super()._try_wait(wait_flags)
            try:
                pid, status, usage = os.wait4(self.pid, wait_flags)
            except ChildProcessError:
                return self.pid, 0
            if pid == self.pid:
                call.peak = _own_peak(usage)
            return pid, status

        def communicate(self, *args: Any, **kwargs: Any) -> Any:
            call = self.__dict__[_CALL]
            call.reading += 1
            try:
                output = super().communicate(*args, **kwargs)
                _keep_streams(self, args[0] if args else kwargs.get("input"), *output)
                return output
            except BaseException as error:
                # A TimeoutExpired carries what was read up to then.
                _keep_streams(self, None, getattr(error, "stdout", None), getattr(error, "stderr", None))
                raise
            finally:
                call.reading -= 1
                _popen_may_have_ended(self)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Recorded, name, getattr(cls, name))
    return Recorded


def _own_peak(usage: Any) -> int | None:
    """Bytes; None if that may be what this process had when it made the child, which Linux counts for the child."""
    try:
        import resource

        parent = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return usage.ru_maxrss * 1024 if usage.ru_maxrss > parent else None
    except Exception:
        return None


def _keep_streams(popen: Any, stdin: Any, stdout: Any, stderr: Any) -> None:
    try:
        call = popen.__dict__[_CALL]
        call.stream("stdout", stdout, popen.encoding)
        call.stream("stderr", stderr, popen.encoding)
        if not call.has_input():
            call.stream("stdin", stdin, popen.encoding)
    except Exception as error:
        _note(f"a call's output was not recorded: {error!r}")


def _popen_may_have_ended(popen: Any) -> None:
    try:
        call = popen.__dict__[_CALL]
        # A Popen that came through a fork is its parent's business.
        if popen.returncode is not None and not call.reading and call.pid == os.getpid():
            call.end(popen.returncode)
    except Exception as error:
        _note(f"a call's end was not recorded: {error!r}")


def _open_store() -> Any:
    global _store
    if _store is None:
        from .store import Store

        _store = Store(os.environ[DIR_VARIABLE], **_caps())
    return _store


def _caps() -> dict[str, int]:
    caps = {}
    for name, variable in (("call_cap", CALL_CAP_VARIABLE), ("total_cap", TOTAL_CAP_VARIABLE)):
        if os.environ.get(variable, "").isdigit():
            caps[name] = int(os.environ[variable])
    return caps


def _note(text: str) -> None:
    try:
        _open_store().note(text)
    except Exception:
        pass


def _at_exit() -> None:
    """The final exception of a program that compiled nothing, or that has set an excepthook of its own."""
    try:
        if _process == os.getpid():
            import time

            _open_store().append_json(_process_file(_open_store()), {"ended": time.time()})
    except Exception:
        pass  # the record folder is gone
    try:
        value = getattr(sys, "last_value", None)
        if not (value is None or isinstance(value, KeyboardInterrupt) or hasattr(sys, "ps1")):
            from . import uncaught

            uncaught.record(_open_store(), value)
    except Exception as error:
        _note(f"the final exception was not recorded: {error!r}")
