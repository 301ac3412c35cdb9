"""Pictures of your own corpus, on matplotlib: each function gives the Figure, and writes it if it is given a path.

    trends            topics through time, or by group: one ridge per topic
    map               documents in the plane, coloured by topic
    words             a topic's words, and how many of its documents hold them
    tree              how topics join
    topic_curves, choose_curves   what trends draws: shares smoothed over time, and which topics to show

    ridges.py, document_map.py, word_bars.py, tree_drawing.py   draw one of them each
    label_places.py   where the names on a map may stand
    sheet.py          the paper: sizes, colours, fonts that have the letters, files that appear whole

matplotlib is imported when something is drawn and not before; figures are made without its global state.

>>> import kate
>>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
>>> topics = kate.TextModel(n_components=2, max_epochs=5).fit(texts).topics(2)
>>> figure = kate.plot.words(topics[0])
>>> type(figure).__name__
'Figure'
"""

from kate.plot.document_map import map_of as map  # noqa: A004 - kate.plot.map
from kate.plot.ridges import choose_curves, topic_curves, trends
from kate.plot.tree_drawing import tree
from kate.plot.word_bars import words

__all__ = ["choose_curves", "map", "topic_curves", "tree", "trends", "words"]
