"""Rivals: the models that KATE is compared with, all with ``fit``, ``transform``, ``save`` and ``load``.

base.py                      what they share
lda.py                       LDA by gensim, scikit-learn and tomotopy (lda_inference.py, lda_training.py: the fast part)
lsa.py, nmf.py, tfidf.py     over TF-IDF (weighting.py)
bm25.py                      a ranking, without vectors
word2vec.py, pretrained.py   means of word vectors, learned here or read from a file (vector_files.py)
doc2vec.py                   paragraph vectors (doc2vec_inference.py: the fast part)
neural/                      autoencoders and neural topic models, trained by PyTorch
"""
