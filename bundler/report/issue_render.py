"""Templates filled in, with code for everything that is not our own words.

A template calls `say("name")` for a sentence in each language asked for, and `{{ show(block) }}` for evidence.
Blocks become tokens first: tidying blank lines must not touch what is inside them. A token holds a NUL, which
no inserted value can hold, as all of them are made printable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bundler.report.markdown import code_block, code_cell, code_span

_BLANK_LINES = re.compile(r"\n{3,}")
_TOKEN = re.compile("\0(\\d+)\0")


@dataclass(frozen=True)
class Block:
    """Text to show as it is. `fold` hides it behind a line to click; `inline` sets it within a sentence."""

    text: str
    language: str = ""
    fold: bool = False
    inline: bool = False


def render(template: str, bug: object, languages: Sequence[str]) -> str:
    """Fill in a form.

    Args:
        template: its file name in `bundler.templates`.
        bug: what the templates know as `b`.
        languages: in which to say every sentence, in this order.
    """
    import jinja2  # noqa: PLC0415  (only this command needs it)
    from markupsafe import Markup  # noqa: PLC0415

    shown: list[str] = []

    def keep(text: str) -> Markup:
        shown.append(text)
        return Markup(f"\0{len(shown) - 1}\0")

    def show(block: Block, summary: str = "") -> Markup:
        fenced = code_block(block.text, block.language)
        if not block.fold:
            return keep(fenced)
        return keep(f"<details>\n<summary>{summary}</summary>\n\n{fenced}\n\n</details>")

    def finalize(value: Any) -> Any:
        if isinstance(value, Block):
            return keep(code_span(value.text) if value.inline else code_block(value.text, value.language))
        if isinstance(value, str) and not hasattr(value, "__html__"):
            return keep(code_span(value))
        return value

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source_of),
        autoescape=False,  # `finalize` sets every value as code instead, which HTML escapes would spoil
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # a part that is included ends like the text around it
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["trusted"] = Markup
    environment.filters["cell"] = lambda text: keep(code_cell(text))
    words = [environment.get_template(f"words.{language}.md.j2").module for language in languages]

    def say(name: str, joint: str = "\n\n", *arguments: object) -> Markup:
        told = (str(getattr(each, name)(bug, *arguments)).strip() for each in words)
        return Markup(joint.join(dict.fromkeys(text for text in told if text)))

    text = environment.get_template(template).render(b=bug, say=say, show=show)
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return _TOKEN.sub(lambda found: shown[int(found[1])], _BLANK_LINES.sub("\n\n", lines)) + "\n"


def source_of(template: str) -> str:
    """A template's text; it is installed as part of the package `bundler.templates`."""
    return resources.files("bundler.templates").joinpath(template).read_text(encoding="utf-8")
