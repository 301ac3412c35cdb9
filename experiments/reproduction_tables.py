"""The opening and the tables of docs/reproduction.md, from the folder that `kate reproduce` wrote.

    kate reproduce -o paper                                          # makes paper/report.md and paper/figures/
    python experiments/reproduction_tables.py paper                  # prints what would be put in
    python experiments/reproduction_tables.py paper --update         # puts it into docs/reproduction.md, between marks
    python experiments/reproduction_tables.py paper "Table 6" "The paper's claims"              # prints these sections

Pictures are copied to docs/images/reproduction. Nothing is run and no number is typed in.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
TARGET, PICTURES = DOCS / "reproduction.md", DOCS / "images" / "reproduction"
START, END = "<!-- tables: from experiments/reproduction_tables.py -->", "<!-- end of tables -->"
OPENING = "<!-- opening: from experiments/reproduction_tables.py -->", "<!-- end of opening -->"
LEFT_OUT = ("Settings and versions of every run",)  # the page has them, and results.jsonl


def sections(report: str) -> dict[str, str]:
    """The sections of a report by their headings, in their order."""
    parts = report.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.strip()}" for part in parts}


def without_empty_tables(section: str) -> str:
    """A section without the tables of data sets that are not on the machine; a note below says so.

    >>> without_empty_tables("## T\\n\\nrcv1\\n\\n| model | ours |\\n|---|---|\\n| LDA | no data |\\n\\n- no data here")
    '## T\\n\\n- no data here'
    """
    kept: list[str] = []
    for paragraph in section.split("\n\n"):
        rows = [row for row in paragraph.splitlines()[2:] if "*not in the paper*" not in row]
        if paragraph.startswith("| model ") and rows and all("no data" in row for row in rows):
            kept.pop()  # its heading
        else:
            kept.append(paragraph)
    return "\n\n".join(kept)


def opening(report: str) -> str:
    r"""The picture that a report begins with, and the sentences below it.

    >>> opening("# KATE\n\nEvery table.\n\n![All](figures/opening.png)\n\nAll of it.\n\n- 5 seeds\n\n## T\n\n- one")
    '![All](images/reproduction/opening.png)\n\nAll of it.'
    """
    paragraphs = report.partition("\n## ")[0].strip().split("\n\n")
    first = next((place for place, one in enumerate(paragraphs) if one.startswith("![")), len(paragraphs))
    kept = [one for one in paragraphs[first:] if not one.startswith("- ")]
    return "\n\n".join(kept).replace("](figures/", "](images/reproduction/")


def put(page: str, marks: tuple[str, str], text: str) -> str:
    """The page with a text between two marks, in place of what is there."""
    start, end = marks
    if start not in page or end not in page:
        sys.exit(f"{TARGET} has no marks; put these two lines where the text belongs:\n{start}\n{end}")
    before, _, rest = page.partition(start)
    return f"{before}{start}\n\n{text}\n\n{end}{rest.partition(end)[2]}"


def chosen(report: str, wanted: list[str]) -> str:
    """The sections whose headings start with one of the words, all of them for none."""
    found = {title: text for title, text in sections(report).items() if title not in LEFT_OUT}
    for one in wanted:
        if not any(title.startswith(one) for title in found):
            sys.exit(f"no section starts with {one!r}; there are: {', '.join(found)}")
    kept = [
        without_empty_tables(text)
        for title, text in found.items()
        if not wanted or title.startswith(tuple(wanted))
    ]
    return "\n\n".join(kept).replace("](figures/", "](images/reproduction/")


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if not arguments:
        sys.exit(__doc__)
    if "--update" in sys.argv and arguments[1:]:
        sys.exit("--update takes all sections: those that are not named would be lost")
    folder = Path(arguments[0])
    report = (folder / "report.md").read_text(encoding="utf-8")
    text = chosen(report, arguments[1:])
    if "--update" not in sys.argv:
        print(text)
        return
    first = opening(report)
    page = put(TARGET.read_text(encoding="utf-8"), OPENING, first)
    TARGET.write_text(put(page, (START, END), text), encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for picture in sorted((folder / "figures").glob("*.png")):
        if f"images/reproduction/{picture.name}" in first + text:
            shutil.copyfile(picture, PICTURES / picture.name)


if __name__ == "__main__":
    main()
