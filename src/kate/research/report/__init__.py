"""Report: pages made of blocks, as HTML or Markdown. Knows nothing of models or runs.

blocks.py                       sections, text, tables, figures
charts.py                       charts as data (charts_svg.py, charts_png.py: draw them)
page.py, page_markdown.py       blocks → one HTML page (page.css, page.js), or Markdown
"""
