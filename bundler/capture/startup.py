"""The `sitecustomize` of the hook folder: start the recorder, then make way for the one behind it.

Copied, never imported. Any Python that the user's command starts reads this file, so its syntax is what
Python 2.7 and 3.6 understand too: an interpreter too old for the recorder must run as if it were not here.
"""

# ruff: noqa: PTH100, PTH120, UP036
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_dont_write = sys.dont_write_bytecode
try:
    if sys.version_info >= (3, 8):
        sys.dont_write_bytecode = False  # the hook folder is ours, and compiling is what takes time in here
        from _npubug import recorder  # type: ignore[import-not-found]

        recorder.install()
except Exception:  # the user's program comes first, with or without a recording
    pass
sys.dont_write_bytecode = _dont_write
sys.path[:] = [entry for entry in sys.path if entry != _here]
sys.path_importer_cache.pop(_here, None)
# The import system returns whatever this name holds when we are done. Without another sitecustomize this
# raises the very ImportError that `site` expects and passes over in silence.
sys.modules.pop("sitecustomize", None)
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401
