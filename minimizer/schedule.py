"""Which transforms there are, and in which order they are tried: big structural cuts first, cosmetics last."""

from __future__ import annotations

from minimizer.transforms.arguments import DROP_ARGUMENTS
from minimizer.transforms.attributes import DROP_ATTRIBUTES, SHORTEN_NAMES, SPLAT_CONSTANTS, STRIP_FUNCTIONS
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
    ERASE,
    DROP_BLOCK_ARGUMENTS,
    TO_OPERAND,
    TO_EARLIER,
    ERASE_TO_CONSTANT,
    MERGE_ARGUMENTS,
    DROP_ARGUMENTS,
    DROP_ATTRIBUTES,
    SPLAT_CONSTANTS,
    PLAIN_LAYOUTS,
    SHORTEN_NAMES,
)
