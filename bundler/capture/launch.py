"""How a kernel is being compiled and launched, read from triton's objects in the frames that called the compiler.

Loaded into the user's Python at its first compiler call (see `recorder`), so: standard library only, Python
3.8 to 3.13. Triton is never imported: a frame or an object is triton's if it looks so (3.2 to 3.5 do). Nothing of
what a tensor holds is looked at, and of other objects nothing is called that triton itself has not called before.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from typing import Any

_MOST_FRAMES = 64
_MOST_NAMES = 200
_LONGEST = 200
_PLAIN = (str, int, float, bool, type(None))
_LARGEST_ALIGNMENT = 512


def facts(frame: Any) -> dict[str, Any] | None:
    """What is known of the kernel that the code in `frame` compiles, or None if no frame above it is triton's."""
    found: dict[str, Any] = {}
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        # The locals of other frames stay untouched: reading them has side effects before Python 3.13.
        if code.co_name == "compile" and "src" in code.co_varnames and "kernel" not in found:
            _of_compile(frame.f_locals, found)
        elif _is_launch(code):
            _of_launch(frame.f_locals, found)
            break
        frame = frame.f_back
    return found or None


def launched(value: Any) -> str | None:
    """The kernel whose launch an exception came out of, or None."""
    seen = set()
    while value is not None and id(value) not in seen:
        seen.add(id(value))
        entry = value.__traceback__
        while entry is not None:
            if _is_launch(entry.tb_frame.f_code):
                return _name(entry.tb_frame.f_locals.get("self"))
            entry = entry.tb_next
        value = value.__cause__ or value.__context__
    return None


def _is_launch(code: Any) -> bool:
    """Whether it is the code of triton's JITFunction.run."""
    return code.co_name == "run" and "bound_args" in code.co_varnames and "grid" in code.co_varnames


def _name(function: Any) -> str | None:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else None


def _of_compile(names: Any, found: dict[str, Any]) -> None:
    """From the locals of triton.compile: `src` is an ASTSource, or an IRSource without a function."""
    source = names.get("src")
    signature = getattr(source, "signature", None)
    if not isinstance(signature, dict):
        return
    function = getattr(source, "fn", None)
    arguments = getattr(function, "arg_names", ())
    found["kernel"] = str(getattr(source, "name", "")).lstrip("@")
    found["signature"] = _texts(signature, arguments)
    found["constants"] = _texts(getattr(source, "constants", None), arguments)
    options = names.get("options")
    found["options"] = _texts(options if isinstance(options, dict) else getattr(options, "__dict__", None))
    target = names.get("target")
    if hasattr(target, "arch"):
        found["target"] = f"{getattr(target, 'backend', '')} {target.arch}".strip()
    code = getattr(getattr(function, "fn", None), "__code__", None)
    if code is not None:
        found["source"] = f"{code.co_filename}:{code.co_firstlineno}"


def _of_launch(names: Any, found: dict[str, Any]) -> None:
    """From the locals of JITFunction.run. A grid that is still a function is not called: that is triton's turn."""
    found.setdefault("kernel", _name(names.get("self")) or "")
    bound = names.get("bound_args")
    if isinstance(bound, dict):
        constants = dict(found.get("constants", ()))
        found["arguments"] = [
            [str(name), _argument(value)]
            for name, value in list(bound.items())[:_MOST_NAMES]
            if name not in constants
        ]
    grid = names.get("grid")
    if isinstance(grid, (tuple, list)) and all(isinstance(size, int) for size in grid):
        found["grid"] = str(tuple(grid))


def _texts(values: Any, arguments: Any = ()) -> list[list[str]]:
    if not isinstance(values, dict):
        return []
    return [[_key(name, arguments), _text(value)] for name, value in list(values.items())[:_MOST_NAMES]]


def _key(name: Any, arguments: Any) -> str:
    """An argument's name; newer versions of triton count them: `(3,)`."""
    number = name[0] if isinstance(name, tuple) and len(name) == 1 else name
    if isinstance(number, int) and 0 <= number < len(arguments):
        return str(arguments[number])
    return str(name)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, _PLAIN) or (
        isinstance(value, (tuple, list)) and all(isinstance(each, _PLAIN) for each in value)
    ):
        return repr(value)[:_LONGEST]
    if type(value).__module__.startswith("triton."):
        return str(value)[:_LONGEST]  # tl.float16 and its like
    return f"<{type(value).__name__}>"


def _argument(value: Any) -> str:
    """`float32 [16, 1024] strides [1024, 1] npu:0 aligned 512`: of a tensor, all but what it holds."""
    try:
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return _tensor(value)
        if isinstance(value, (bool, int, float, type(None))):
            return _text(value)
    except Exception:
        pass  # an object of the program's own making, and not what it looks like
    return f"<{type(value).__name__}>"


def _tensor(value: Any) -> str:
    words = [str(value.dtype).rpartition(".")[2], _sizes(value.shape)]
    if type(value).__name__ in ("Tensor", "Parameter"):  # others, fake ones, may have no address
        words += ["strides", _sizes(value.stride()), str(value.device)]
        address = value.data_ptr()
        if address:
            words += ["aligned", str(min(address & -address, _LARGEST_ALIGNMENT))]
    return " ".join(words)


def _sizes(sizes: Any) -> str:
    return f"[{', '.join(str(size) for size in sizes)}]"
