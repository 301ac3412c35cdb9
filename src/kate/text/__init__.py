"""Text → counts. Nothing here imports a model.

Reading documents:

    readers.py          read_corpus, iter_corpus: files, folders or standard input → Documents, all or batch by batch
    corpus_batches.py   CorpusBatches: a corpus batch by batch, in memory that does not grow with it
    documents.py        Documents: texts with ids, labels and titles, in one table
    frames.py           texts, pandas and Polars frames → Documents, and results back in their kind
    dates.py            a column of dates, as people write them → days
    input_listing.py    which files: paths, patterns, folders, datasets, addresses → sources
    input_files.py      their bytes and lines; standard input
    remote_files.py     files elsewhere, through fsspec (extra remote)
    compressed_files.py bytes, decompressed and counted
    dataset_columns.py  the columns that the files of a dataset share, and those in the names of its folders
    encodings.py        files that are not in the encoding that was said
    file_rows.py        text files and folders → rows, one per document; malformed rows
    document_tables.py  rows → tables
    parquet_files.py    a Parquet file → tables
    table_columns.py    tables that shall stand under each other: one type for a column of all of them
    repeated_ids.py     whether an id comes twice
    table_spool.py      tables that wait on disk until the columns of all are known
    table_files.py      tables → CSV, Parquet, JSON lines, Arrow
    fields.py           which column is the text, the id, the label and the title

Counting words:

    cleaning.py         takes markup and addresses out of a text
    counts.py           Counts: texts → counts as a scikit-learn transformer
    word_parameters.py  what it and TextModel have in common
    vocabulary.py       Vocabulary: the words that have a column; texts → counts of them
    text_batches.py     texts of any kind in batches, each document checked
    counting.py         texts → counts in batches over threads
    learning.py         texts → the words of a vocabulary and their counts, in one pass
    waiting_words.py    words that were seen and have no column
    growing.py          new documents for a vocabulary: words enter, others fade
    phrases.py          neighbours such as "new york" as words of their own
    word_choice.py      which words get a column: min_df, max_df, the most frequent first
    tokenizer.py        Tokenizer: text → words and stems
    own_tokenizer.py    OwnTokenizer: words that the user makes
    languages.py        names and ISO codes; guesses the language of texts
    few_texts.py        counts of a few short texts, quickly
    language_checks.py  a corpus that is of another language than was said, or without spaces
    segmenters.py       words of Chinese, Japanese and Thai (extra cjk)
    stopwords.py        stop words of many languages
    sequences.py        Sequences: the words of documents in their order
"""
