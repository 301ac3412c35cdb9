"""Models go to the hub and come back; a stand-in of its HTTP API answers, nothing else is asked."""

import os
import subprocess
import sys

import pytest

pytest.importorskip(
    "huggingface_hub", reason="huggingface_hub is not installed: pip install 'kate-text[hub]'"
)

from adapters.hub_stand_in import hub

# the address of the hub is read when the library is imported: so a process of its own
PUSH_AND_PULL = """
import sys
import kate
from kate.adapters.hub import from_hub, push_to_hub
folder, cache = sys.argv[1:]
print(push_to_hub(folder, "somebody/model", token="hf_none"))
again = from_hub("somebody/model", token="hf_none", cache_dir=cache)
assert again.encode("gold").tobytes() == kate.load(folder).encode("gold").tobytes()
print(type(again).__name__)
"""


def run(code, address, *arguments):
    environment = os.environ | {
        "HF_ENDPOINT": address,
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_a_model_goes_up_and_comes_back(model, tmp_path):
    model.save(tmp_path / "model")
    with hub() as server:
        done = run(PUSH_AND_PULL, server.address, tmp_path / "model", tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "TextModel"
        assert {"config.json", "weights.safetensors", "README.md"} <= set(server.files)
        assert server.created[0].get("visibility", "private") == "private"
        assert server.created[0].get("private", True) is True


def test_what_is_no_folder_of_ours_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    with hub() as server:
        code = "import sys; from kate.adapters.hub import push_to_hub; push_to_hub(sys.argv[1], 'somebody/model')"
        done = run(code, server.address, tmp_path / "other")
        assert done.returncode == 1
        assert "not of a Kate model" in done.stderr
        assert server.files == {}
        server.files["readme.txt"] = b"nothing"
        code = "import sys; from kate.adapters.hub import from_hub; from_hub('somebody/model', cache_dir=sys.argv[1])"
        done = run(code, server.address, tmp_path / "cache")
        assert "neither a model nor an index of Kate" in done.stderr
