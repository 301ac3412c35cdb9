"""The explorer: a corpus in one page. Documents as a map, topics through time, search and reading, without a network.

    explorer.py         page(...): from a model and a corpus to one HTML file
    explored_corpus.py  the documents of a page as its parts need them: counts, vectors, columns
    map_layout.py       where documents stand on the map (t-SNE)
    topic_parts.py      topics of every stop of the slider, and the topic of every document
    column_parts.py     the columns of the documents and their dates
    text_parts.py       texts or snippets, in blocks
    encoder_parts.py    what the page needs to read, encode and rank a query as Python does: word_table.py (words and
                        their forms), word_lists.py (which documents hold them), small_map.py (the model's map)
    page_limits.py      how many documents and bytes a page may have, and how much of the texts then
    explored_index.py   the same for a service: a sample of an index, and what a search finds outside it
    page_data.py        a manifest and named parts: the data of a page
    page_file.py        the HTML file, or the page that a service gives
    page/               the page itself: ES modules, style, template · bundle/  what is made of them (make page)

docs/explorer.md describes the page and the format of its data.

>>> import tempfile, kate
>>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
>>> model = kate.TextModel(n_components=2, max_epochs=5).fit(texts)
>>> with tempfile.TemporaryDirectory() as folder:
...     written = kate.explore.page(model, kate.Documents.from_texts(texts), f"{folder}/texts.html")
"""

from kate.explore.explorer import page

__all__ = ["page"]
