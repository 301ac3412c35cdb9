"""The HTML of a page: with its data in one file, or without them, as a service gives it.

The policy in the page lets its own script and style run, known by their hashes, and nothing else: no other script, no
request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path

from kate.explore.page_data import PageData
from kate.storage.folders import StrPath

__all__ = ["POLICY_HEADER", "page_file_bytes", "served_page", "write_page"]

POLICY_HEADER = "Content-Security-Policy"


def write_page(data: PageData, path: StrPath) -> int:
    """One HTML file that needs nothing else; its bytes."""
    with Path(path).open("wb") as file:
        return sum(file.write(piece) for piece in _pieces(data))


def page_file_bytes(data: PageData) -> int:
    """How long the file of a page is."""
    around = sum(len(piece) for piece in _pieces(PageData(data.manifest, dict.fromkeys(data.parts, b""))))
    return around + data.n_bytes


def served_page() -> tuple[str, str]:
    """The page that fetches its manifest and parts from where it came from; and its policy, for the header."""
    policy = _policy(connect="'self'")
    # a page can forbid to be framed by others in the header alone
    return _filled(_template(), title="Kate", policy=policy, data=""), f"{policy}; frame-ancestors 'none'"


def _pieces(data: PageData) -> Iterator[bytes]:
    """The file, part by part: it is never in memory as a whole."""
    title = escape(str(data.manifest.get("title") or "Kate"))
    before, after = (
        _filled(half, title=title, policy=_policy(connect="'none'")) for half in _template().split("{{data}}")
    )
    yield before.encode("utf-8", "replace")
    manifest = _harmless(json.dumps(data.manifest, ensure_ascii=False, separators=(",", ":")))
    yield f'<script type="application/json" id="kate-manifest">{manifest}</script>\n'.encode()
    for name, part in data.parts.items():
        yield f'<script type="text/plain" id="kate-part-{escape(name)}">'.encode()
        yield base64.b64encode(part)
        yield b"</script>\n"
    yield after.encode()


def _filled(template: str, **values: str) -> str:
    """The template with its {{fields}}; what is filled in is not looked at again."""
    fields = values | {"style": _bundled("explorer.css"), "script": _script()}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], template)


def _harmless(text: str) -> str:
    """JSON that cannot end the element that holds it: < and & as escapes, and what old parsers take for line ends."""
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _policy(connect: str) -> str:
    style, script = _hash(_bundled("explorer.css")), _hash(_script())
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src data: blob:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _template() -> str:
    return resources.files("kate.explore").joinpath("page/page.html").read_text(encoding="utf-8")


@cache
def _bundled(name: str) -> str:
    return resources.files("kate.explore").joinpath(f"bundle/{name}").read_text(encoding="utf-8")


@cache
def _script() -> str:
    """A script in a page must not hold what ends it."""
    return re.sub(r"</(script)", r"<\\/\1", _bundled("explorer.js"), flags=re.IGNORECASE).replace(
        "<!--", "<\\!--"
    )
