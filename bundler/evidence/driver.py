"""NPU driver and firmware versions.

`/usr/local/Ascend/{driver,firmware}/version.info`, or below `Driver_Install_Path_Param` of
`/etc/ascend_install.info`. Driver: `Version=25.5.0`, `ascendhal_version=7.35.23`, `Innerversion=...`;
firmware: `Version=7.8.0.5.216`, `package_version=25.5.0`. Containers often do not mount them, which says
nothing about the host: the reason is then "not visible in this container".
"""

from __future__ import annotations

from collections.abc import Iterable

from bundler.evidence.container import container_kind
from bundler.evidence.context import Context, Source, key_values, read_text
from bundler.manifest import Fact

# fact, folder, key
_FACTS = (
    ("driver.version", "driver", "Version"),
    ("driver.innerversion", "driver", "Innerversion"),
    ("driver.ascendhal", "driver", "ascendhal_version"),
    ("firmware.version", "firmware", "Version"),
    ("firmware.package", "firmware", "package_version"),
)


def _collect(context: Context) -> Iterable[Fact]:
    recorded = key_values(read_text(context.at("/etc/ascend_install.info")) or "")
    bases = [recorded.get("Driver_Install_Path_Param", ""), "/usr/local/Ascend"]
    files = {
        folder: next(
            (
                (f"{base}/{folder}/version.info", text)
                for base in bases
                if base and (text := read_text(context.at(f"{base}/{folder}/version.info"))) is not None
            ),
            None,
        )
        for folder in ("driver", "firmware")
    }
    kind, _ = container_kind(context)
    for name, folder, key in _FACTS:
        found = files[folder]
        if found is None:
            default = f"/usr/local/Ascend/{folder}/version.info"
            reason = "not visible in this container" if kind else f"no {default}"
            yield Fact(name, None, default, reason)
            continue
        path, text = found
        value = key_values(text).get(key)
        yield Fact(name, value or None, path, "" if value else f"no {key} in {path}")


SOURCE = Source("/usr/local/Ascend", tuple(name for name, _, _ in _FACTS), _collect)
