"""Which transforms there are, and in which order they are tried.

Big structural cuts first. Then what is cheap and changes the whole text (attributes, names), so that the long tail of
small edits is tried on the final text and its verdicts stay valid.
"""

from __future__ import annotations

from minimizer.transforms.arguments import DROP_ARGUMENTS
from minimizer.transforms.attributes import (
    DROP_ATTRIBUTES,
    PLAIN_FUNCTIONS,
    SHORTEN_NAMES,
    SPLAT_CONSTANTS,
    STRIP_FUNCTIONS,
)
from minimizer.transforms.control_flow import BRANCHES, DROP_BLOCK_ARGUMENTS
from minimizer.transforms.edit import Transform
from minimizer.transforms.erase import CUT, ERASE, ERASE_TO_CONSTANT
from minimizer.transforms.inline import INLINE
from minimizer.transforms.shortcut import MERGE_ARGUMENTS, TO_EARLIER, TO_OPERAND
from minimizer.transforms.types import PLAIN_LAYOUTS

TRANSFORMS: tuple[Transform, ...] = (
    BRANCHES,
    INLINE,
    CUT,
    STRIP_FUNCTIONS,
    PLAIN_LAYOUTS,
    SHORTEN_NAMES,
    ERASE,
    DROP_BLOCK_ARGUMENTS,
    TO_OPERAND,
    TO_EARLIER,
    ERASE_TO_CONSTANT,
    MERGE_ARGUMENTS,
    PLAIN_FUNCTIONS,
    DROP_ARGUMENTS,
    DROP_ATTRIBUTES,
    SPLAT_CONSTANTS,
)
