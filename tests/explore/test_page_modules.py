"""The page's modules that need no browser, tested in node: tests/explore/page/modules.test.js."""

import subprocess

from explore.conftest import PAGE_TESTS, node


def test_modules():
    done = subprocess.run(
        [node(), "--test", PAGE_TESTS / "modules.test.js"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "pass 13" in done.stdout
