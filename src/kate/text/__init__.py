"""Text → counts. Nothing here imports a model.

Reading documents:

    readers.py          read_corpus: files, folders or standard input → Documents
    documents.py        Documents: texts with ids, labels and titles, in one table
    frames.py           texts, pandas and Polars frames → Documents, and results back in their kind
    dates.py            a column of dates, as people write them → days
    input_files.py      what to read: files, compressed or not, folders, standard input
    compressed_files.py their bytes, decompressed
    encodings.py        files that are not in the encoding that was said
    file_rows.py        text files and folders → rows, one per document; malformed rows
    document_tables.py  rows, or a Parquet file → a table
    fields.py           which column is the text, the id, the label and the title

Counting words:

    cleaning.py         takes markup and addresses out of a text
    counts.py           Counts: texts → counts as a scikit-learn transformer
    word_parameters.py  what it and TextModel have in common
    vocabulary.py       Vocabulary: the words that have a column; texts → counts of them
    counting.py         texts → counts in batches over threads
    learning.py         texts → the words of a vocabulary and their counts, in one pass
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
