"""What a page holds, read without a browser."""

import base64
import gzip
import json
import re


def read_page(path):
    """The manifest and the decompressed parts of a file."""
    html = path.read_text(encoding="utf-8")
    [manifest] = re.findall(r'<script type="application/json" id="kate-manifest">(.*?)</script>', html)
    parts = dict(re.findall(r'<script type="text/plain" id="kate-part-([\w-]+)">(.*?)</script>', html))
    return json.loads(manifest), {
        name: gzip.decompress(base64.b64decode(part)) for name, part in parts.items()
    }
