"""The notebooks of the site: executed from their first cell, in a kernel of their own.

python tests/notebook_runs.py --update      # writes what they print into docs/notebooks
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with what its cells print, run in a folder; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


def main() -> None:
    """Execute every notebook and keep its outputs."""
    from tempfile import TemporaryDirectory

    names = sys.argv[2:]
    for path in [path for path in NOTEBOOKS if not names or path.stem in names]:
        with TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)


if __name__ == "__main__":
    main()
