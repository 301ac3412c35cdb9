"""Corpora that are larger than memory: TEXT → SHARDS ON DISK → COUNTS, a piece at a time. Nothing here imports a model.

    memory_limit.py      "2GB" → what every phase may use of it
    shard_files.py       one shard: some documents' counts in small pieces, checked when they are read
    shard_counting.py    texts → shards; every shard has its own numbers for words, and says what they mean
    word_totals.py       the words of all shards → a Vocabulary with exact counts
    count_shards.py      shards of a vocabulary's columns: samples, and windows of shuffled documents read ahead
    work_folder.py       the folder that holds all of it, says what it is, and goes on after an interruption
    sharded_corpus.py    texts → shards of one vocabulary's columns in a work folder, phase by phase
    phase_log.py         progress of long work in the log

A shard depends on its own texts alone: machines can make shards apart from each other, and any of them can put the
words of all shards together. A file appears whole or not at all.
"""
