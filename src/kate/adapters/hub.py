"""Models and indexes on the Hugging Face hub (extra ``hub``).

A folder goes up as it is, with its model card; it is checked when it is loaded, as every folder of ours. Nothing of a
stranger's folder is run: there is no pickle in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kate.extras import install_command
from kate.model.text_model import TextModel, load
from kate.search import Index
from kate.storage.folders import FolderError, StrPath

__all__ = ["from_hub", "push_to_hub"]


def push_to_hub(
    folder: StrPath,
    repo_id: str,
    *,
    private: bool = True,
    token: str | None = None,
    revision: str | None = None,
    message: str | None = None,
) -> str:
    """Upload a folder of ``kate fit`` or ``kate index``; the address of the commit.

    An index holds the texts of its documents, a model the words of some of them: a new repository is private unless
    said otherwise.

    repo_id : "name/model"
    """
    hub = _hub()
    folder = Path(folder)
    is_index = (folder / "index.json").is_file()
    (Index.load if is_index else load)(folder)  # what is damaged stays here
    api = hub.HfApi(token=token)
    api.create_repo(repo_id, private=private, exist_ok=True, repo_type="model")
    commit = api.upload_folder(
        repo_id=repo_id,
        folder_path=folder,
        revision=revision,
        commit_message=message or f"A Kate {'index' if is_index else 'model'}",
    )
    return str(commit.commit_url)


def from_hub(
    repo_id: str, *, revision: str | None = None, token: str | None = None, cache_dir: StrPath | None = None
) -> TextModel | Index:
    """Download a model or an index, or take it from the cache, and load it."""
    hub = _hub()
    folder = Path(hub.snapshot_download(repo_id, revision=revision, token=token, cache_dir=cache_dir))
    if (folder / "index.json").is_file():
        return Index.load(folder)
    if not (folder / "config.json").is_file():
        raise FolderError(
            f"{repo_id} is neither a model nor an index of Kate: no config.json, no index.json in it"
        )
    return load(folder)


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise ImportError(f"the hub needs huggingface_hub: {install_command('hub')}") from None
    return huggingface_hub
