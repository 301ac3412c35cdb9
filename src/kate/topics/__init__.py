"""Vectors → topics: sets of documents, any number of them, described by words.

document_sketch.py  some of the documents, as vectors and sets of words: all that topics are made from
leaf_clusters.py    many small clusters of them (k-means)
coarse_groups.py    the upper part of the tree, alike for all seeds · ward_joins.py: which clusters are joined
topic_tree.py       the clusters joined upwards to a tree; how many topics the data suggest
topic_cut.py        a cut of the tree: centres, and which topics a document has
topic_words.py      the words and the name of a topic
topic_edits.py      what the user renamed, merged, split, dropped
carried_topics.py   topics that outlive an update, and new ones · reservoir.py: the sketch as a sample of all seen
topic_space.py      all of these in one: what a model knows of its topics
periods.py          periods of a column of dates, or groups of any other · over_time.py: topics in them
topic.py            Topic · topic_set.py: Topics, what users work with · topic_nodes.py: the tree, to read
coherence.py        which words occur together (NPMI)
neuron_poles.py     the paper's way: the two poles of each neuron · neuron_table.py: the table of them
"""
