"""Many machines, on Ray: texts are counted, encoded, labelled and indexed where they are read; extra ``cluster``.

    ray_cluster.py        a Ray of this machine, or one that runs: tasks, workers, errors as they are without Ray
    corpus_pieces.py      files → pieces that workers read apart from each other
    piece_counting.py     what workers do to count: a piece → its counts and words; the words of a group → sums
    cluster_counting.py   the map-reduce around it: pieces → a Vocabulary with exact counts, and counts that stay put
    ray_team.py           training by several workers that are averaged
    cluster_fit.py        files → a fitted TextModel
    piece_encoding.py     what workers do with a model that they have loaded once: vectors, topics, words of a piece
    cluster_encoding.py   files → vectors, labelled documents, an index

All of it gives what the same calls give without a cluster, whatever the number of workers; only training by several
workers gives another model (docs/scale.md). A worker that dies is replaced, and what it did is done again.

    with RayCluster.start() as cluster:
        model = fit_on_cluster(cluster, TextModel(), CorpusPieces.of("news/*.parquet"))
        encode_on_cluster(cluster, model, CorpusPieces.of("new/*.parquet"), Path("vectors.parquet"))
"""
