"""What people would pick today: models that read whole texts, most of them with pre-trained sentence embeddings.

text_rival.py         what they share: texts in, vectors out; topic models tell each text's topic, too
sentence_vectors.py   all-MiniLM-L6-v2, and static vectors of word pieces that Model2Vec reads
sentence_topics.py    BERTopic, Top2Vec and FASTopic on the embeddings of all-MiniLM-L6-v2

The packages come with the extra ``rivals``. These models are compared, not kept: they have no ``save``.
"""
