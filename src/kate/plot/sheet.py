"""The paper that pictures are drawn on: sizes, colours, fonts that have the letters, files that appear whole."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kate.errors import quoted
from kate.extras import require
from kate.storage.files import whole_file
from kate.storage.folders import StrPath

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FAINT",
    "GREY",
    "INK",
    "PALETTE",
    "StrPath",
    "clean",
    "darker",
    "drawing",
    "halo",
    "new_figure",
    "require_format",
    "save",
    "shortened",
    "write_around",
]

# Paul Tol's muted scheme with a few colours more, light and dark in turn: the colour-blind can tell most of them apart.
PALETTE = (
    *(
        "#332288",
        "#117733",
        "#CC6677",
        "#44AA99",
        "#AA4499",
        "#999933",
        "#0077BB",
        "#882255",
        "#DDAA33",
        "#225555",
    ),
    *(
        "#EE7733",
        "#88AADD",
        "#661100",
        "#B58A6B",
        "#5E8C31",
        "#D1495B",
        "#7A5CAB",
        "#00B8C4",
        "#E377C2",
        "#8A5A44",
    ),
)
INK, GREY, FAINT = "#222222", "#555555", "#777777"
_DOTS_PER_INCH = 120
_FORMATS = (".png", ".svg", ".pdf")
# No date in a file: the same picture is the same file.
_METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_FIRST_FONT = "DejaVu Sans"  # comes with matplotlib
# Letters that many fonts have, and these have well.
_GOOD_FONTS = (
    "Noto Sans CJK",
    "Noto Sans",
    "Source Han Sans",
    "WenQuanYi",
    "IPAGothic",
    "Droid Sans Fallback",
)


def clean(text: str) -> str:
    """A text on one line, without characters that are not to be seen: controls, marks that turn the direction.

    >>> clean("gold\\x1b[31m\\n and\\u202e silver")
    'gold [31m and silver'
    """
    shown = "".join(" " if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter for letter in text)
    return " ".join(shown.split())


def shortened(text: str, length: int) -> str:
    """At most so many characters, cut at a word where that is possible.

    >>> shortened("treaty, convention, britain", 20)
    'treaty, convention …'
    """
    text = clean(text)
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut).rstrip(" ,") + " …"


def require_format(path: StrPath | None) -> None:
    """Refuse a file that no picture can be written to, before anything is drawn."""
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise ValueError(
            f"cannot write a picture to {quoted(target.name)}: its name must end in .png, .svg or .pdf"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {target}: the folder {target.parent} does not exist; create it"
        )


@contextmanager
def drawing(texts: Iterable[str]) -> Iterator[None]:
    """The settings to draw under: fonts that have the letters of the texts, and "$" is a letter like others."""
    require("a picture", "matplotlib", "plot")
    import matplotlib

    settings: dict[Any, Any] = {
        "font.family": _fonts_for(set("".join(texts))),
        "text.parse_math": False,
        "text.usetex": False,
        "axes.unicode_minus": False,
    }
    # the defaults, and not those of the user's own matplotlibrc: a dark style would hide dark text
    with matplotlib.rc_context(matplotlib.rcParamsDefault | settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")  # said once, by _fonts_for
        yield


def _fonts_for(letters: set[str]) -> list[str]:
    """Installed fonts that together have the letters; a warning where there are none for some."""
    from matplotlib.font_manager import fontManager, get_font

    # the "last resort" has a box for every letter
    paths = {
        font.name: font.fname
        for font in fontManager.ttflist
        if font.style == "normal" and not font.name.startswith("Last Resort")
    }
    fonts = [_FIRST_FONT]
    missing = _without(letters, get_font(paths[_FIRST_FONT]))
    others = sorted(paths, key=lambda name: (not name.startswith(_GOOD_FONTS), name)) if missing else []
    for name in others:
        try:
            still = _without(missing, get_font(paths[name]))
        except (OSError, RuntimeError):  # a font that cannot be read
            continue
        if len(still) < len(missing):
            fonts.append(name)
            missing = still
        if not missing:
            break
    if missing:
        shown = " ".join(sorted(missing)[:10])
        more = f" and {len(missing) - 10:,} more" if len(missing) > 10 else ""
        warnings.warn(
            f"no installed font has the letters {shown}{more}: the picture shows boxes for them; install a font that "
            "has them, such as Noto Sans CJK for Chinese, Japanese and Korean",
            UserWarning,
            stacklevel=5,
        )
    return fonts


def _without(letters: set[str], font: Any) -> set[str]:
    known = font.get_charmap()
    return {letter for letter in letters if not letter.isspace() and ord(letter) not in known}


def new_figure(width: float, height: float) -> Figure:
    """A white sheet; in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, facecolor="white")


def darker(color: str) -> Any:
    """A darker shade: text needs more contrast than an area of the same colour."""
    from matplotlib.colors import to_rgb

    return tuple(0.68 * part for part in to_rgb(color))


def halo(width: float = 2.5) -> list[Any]:
    """White around letters."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white")]


def write_around(figure: Figure, title: str, subtitle: str, source: str) -> None:
    """Title and subtitle at the top, the source at the bottom; in inches, so that they do not depend on the height."""
    height = figure.get_figheight()
    left = 0.24 / figure.get_figwidth()
    figure.text(left, 1 - 0.14 / height, title, fontsize=16, fontweight="bold", color=INK, va="top")
    figure.text(left, 1 - 0.5 / height, subtitle, fontsize=10.5, color=GREY, va="top")
    if source:
        figure.text(left, 0.1 / height, source, fontsize=8, color=FAINT, va="bottom")


def save(figure: Figure, path: StrPath | None) -> None:
    """Write a picture whole or not at all; its format is that of the name. Nothing without a path."""
    if path is None:
        return
    import matplotlib

    suffix = Path(path).suffix.lower()
    # in an SVG text stays text: small files whose words can be found
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "kate", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), whole_file(path) as part:
        figure.savefig(part, format=suffix[1:], metadata=_METADATA.get(suffix, {}))
