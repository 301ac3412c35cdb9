"""The page and its Markdown: structure, escaping, and cells that say what they mean."""

from __future__ import annotations

import pytest

from kate.research.report.blocks import (
    Code,
    ColumnGroup,
    Folded,
    Items,
    Page,
    Section,
    Table,
    TableCell,
    TableRow,
    TextBlock,
)
from kate.research.report.page import page_html
from kate.research.report.page_markdown import page_markdown

TABLE = Table(
    "t",
    "model",
    (ColumnGroup("128 topics", ("paper", "ours")),),
    (
        TableRow("KATE", (TableCell("0.744", strong=True), TableCell("0.738", "± 0.004", "three | seeds"))),
        TableRow(
            "A|B",
            (TableCell("–", kind="none"), TableCell("failed", detail="<no>", kind="error")),
            part="not in the paper",
        ),
    ),
    caption="a caption",
    notes=("a note",),
)


def page_of(*blocks: object) -> Page:
    return Page(
        "Title <1>", "subtitle", (Section("one", "First & last", tuple(blocks)),), "a banner", ("a fact",)
    )


def test_a_table_has_heads_parts_and_details() -> None:
    html = page_html(page_of(TABLE))
    assert '<th class="start" colspan="2" scope="colgroup">128 topics</th>' in html
    assert "<strong>0.744</strong>" in html
    assert "0.738 <small>± 0.004</small>" in html
    assert 'data-detail="&lt;no&gt;"' in html
    assert '<tr class="part"><th colspan="3">not in the paper</th></tr>' in html
    assert '<ul class="notes"><li>a note</li></ul>' in html


def test_a_table_in_markdown() -> None:
    lines = page_markdown(page_of(TABLE)).splitlines()
    assert "| model | 128 topics paper | 128 topics ours |" in lines
    assert "| KATE | **0.744** | 0.738 ± 0.004 |" in lines
    assert "| A\\|B | – | failed |" in lines
    assert "| *not in the paper* |  |  |" in lines


def test_text_is_escaped_and_marked_up() -> None:
    html = page_html(page_of(TextBlock("**yes** `a<b` & c"), Items(("x < y",)), Code("<script>")))
    assert "<p><strong>yes</strong> <code>a&lt;b</code> &amp; c</p>" in html
    assert "<li>x &lt; y</li>" in html
    assert "<pre>&lt;script&gt;</pre>" in html
    assert "<title>Title &lt;1&gt;</title>" in html
    assert '<a href="#one">First &amp; last</a>' in html


def test_folds_stand_in_the_page_and_in_markdown_where_they_are_wanted() -> None:
    shut, kept = (
        Folded("f", "settings", (Code("x=1"),)),
        Folded("g", "more", (TextBlock("text"),), in_markdown=True),
    )
    html, text = page_html(page_of(shut, kept)), page_markdown(page_of(shut, kept))
    assert '<details id="f"><summary>settings</summary><pre>x=1</pre>' in html
    assert "x=1" not in text
    assert "**more**\n\ntext" in text


def test_anything_else_is_refused() -> None:
    with pytest.raises(TypeError, match="str is no block"):
        page_html(page_of("text"))
    with pytest.raises(TypeError, match="str is no block"):
        page_markdown(page_of("text"))
