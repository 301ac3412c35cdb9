"""The description of the service: OpenAPI as JSON, and a page that shows it without loading anything from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

import kate

__all__ = ["POLICY", "description", "openapi_page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_TEXTS = {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_SEARCH = {
    "q": (_TEXT, 'words; "a phrase" in quotes must occur, a -word must not', True),
    "top": (_WHOLE, "how many hits, 10 by default", False),
    "offset": (_WHOLE, "how many hits to leave out: pages of results", False),
    "by": ({"type": "string", "enum": ["both", "words", "meaning"]}, "both by default", False),
    "where": (_TEXT, "a condition on the columns: year >= 1990 and party = 'Whig'", False),
    "sort": (_TEXT, "a column to sort by; -year puts the highest first", False),
}
_N = (_WHOLE, "how many topics; left out, as many as the data suggest", False)
_TOP_WORDS = (_WHOLE, "words per topic, 30 at most", False)
_EMBEDDINGS = {
    "model": (_TEXT, "the name of the model, see /v1/models", True),
    "input": (_TEXTS, "a text or a list of texts", True),
    "encoding_format": ({"type": "string", "enum": ["float", "base64"]}, "float by default", False),
    "dimensions": (_WHOLE, "the first so many numbers of a vector", False),
    "user": (_TEXT, "not used", False),
}
_SIMILAR = {
    "id": (_TEXT, "a document of the index", False),
    "text": (_TEXT, "or a text", False),
    **{name: _SEARCH[name] for name in ("top", "offset", "where")},
}
_LABEL = {
    "texts": (_TEXTS, "a text or a list of texts", True),
    "n": _N,
    "topics": ({"type": "object"}, 'your own topics: {"health": "doctor hospital"}', False),
}
# method, path, what it does, fields of the query string, fields of the body
_ROUTES: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("post", "/v1/embeddings", "Vectors of texts, as OpenAI's API gives them.", {}, _EMBEDDINGS),
    ("get", "/v1/models", "The model that is served.", {}, {}),
    ("get", "/v1/models/{name}", "The same, by its name.", {}, {}),
    ("get", "/search", "Documents that answer a query.", _SEARCH, {}),
    ("post", "/search", "The same, with the fields in the body.", {}, _SEARCH),
    ("post", "/similar", "Documents like one of the index, or like a text.", {}, _SIMILAR),
    ("get", "/documents/{id}", "A document of the index, whole.", {}, {}),
    ("get", "/topics", "The topics of the model.", {"n": _N, "top": _TOP_WORDS}, {}),
    ("get", "/topics/{id}", "One topic, by its number.", {"n": _N, "top": _TOP_WORDS}, {}),
    ("post", "/label", "The topic of each of some texts.", {}, _LABEL),
    (
        "get",
        "/explore/",
        "The documents of an index as a page: map, topics, time, search. For people.",
        {},
        {},
    ),
    ("get", "/health", "Whether the service answers; needs no token.", {}, {}),
    ("get", "/metrics", "Figures for Prometheus.", {}, {}),
]


def description(model: str, *, has_token: bool) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path, what, query, body in _ROUTES:
        operation: dict[str, Any] = {
            "summary": what,
            "parameters": [_path_parameter(path)] if "{" in path else [],
            "responses": {
                "200": {"description": "The answer."},
                "default": {"$ref": "#/components/responses/Error"},
            },
        }
        for name, (schema, about, is_needed) in query.items():
            operation["parameters"].append(
                {"name": name, "in": "query", "required": is_needed, "schema": schema, "description": about}
            )
        if body:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": _body_schema(body)}},
            }
        paths.setdefault(path, {})[method] = operation
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": f"Kate: {model}", "version": kate.__version__},
        "paths": paths,
        "components": {"responses": {"Error": _ERROR}},
    }
    if has_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


_ERROR = {
    "description": "What was found, what was expected and what to do.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "error": {
                        "type": "object",
                        "properties": {"message": _TEXT, "type": _TEXT, "param": {}, "code": {}},
                    }
                },
            }
        }
    },
}


def _path_parameter(path: str) -> dict[str, Any]:
    name = path.split("{")[1].rstrip("}")
    schema = _WHOLE if path.startswith("/topics") else _TEXT
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _body_schema(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: schema | {"description": about} for name, (schema, about, _) in fields.items()},
        "required": [name for name, (_, _, is_needed) in fields.items() if is_needed],
        "additionalProperties": False,
    }


def openapi_page(described: dict[str, Any]) -> str:
    """The description as a page to read."""
    parts = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            rows = [(row["name"], row.get("description", "")) for row in operation["parameters"]]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            properties = content.get("schema", {}).get("properties", {})
            rows += [(name, schema["description"]) for name, schema in properties.items()]
            listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(about)}</dd>" for name, about in rows)
            parts.append(
                f"<section><h2><b>{method.upper()}</b> {escape(path)}</h2><p>{escape(operation['summary'])}</p>"
                f"<dl>{listed}</dl></section>"
            )
    title = escape(described["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><style>'
        "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}"
        ":root{color-scheme:light dark}"
        "h2{font-size:1.1rem;margin-bottom:0}p{margin:.2rem 0}dl{display:grid;grid-template-columns:10rem 1fr;margin:0}"
        f"dt{{font-family:monospace}}dd{{margin:0}}</style><h1>{title}</h1>"
        f'<p>Kate {escape(described["info"]["version"])}. As OpenAPI: <a href="/openapi.json">/openapi.json</a>. '
        'The documents as a page: <a href="/explore/">/explore/</a>.</p>'
        f"{''.join(parts)}</html>"
    )
