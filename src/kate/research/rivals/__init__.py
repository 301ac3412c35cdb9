"""Rivals: the models that KATE is compared with, all with ``fit``, ``transform``, ``save`` and ``load``.

base.py                      what they share
lda.py                       LDA by gensim, scikit-learn, tomotopy and topica (lda_inference.py, lda_training.py: fast)
lsa.py, nmf.py, tfidf.py     over TF-IDF (weighting.py)
bm25.py                      a ranking, without vectors
word2vec.py, pretrained.py   means of word vectors, learned here or read from a file (vector_files.py)
doc2vec.py                   paragraph vectors (doc2vec_inference.py: the fast part)
today/                       what people would pick today, over whole texts: BERTopic, Top2Vec, FASTopic, MiniLM
neural/                      autoencoders and neural topic models, trained by PyTorch
"""
