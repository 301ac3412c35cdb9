"""Kate inside other libraries. Each module needs the library that it is for, and nothing else of Kate needs it.

langchain_embeddings.py  KateEmbeddings, an ``Embeddings`` of LangChain
bertopic_embedder.py     KateEmbedder, for ``BERTopic(embedding_model=…)``
mteb_encoder.py          KateEncoder, for ``mteb.evaluate`` (extra ``mteb``)
hub.py                   models on the Hugging Face hub: push_to_hub, from_hub (extra ``hub``)

scikit-learn needs no adapter: ``kate.TextModel`` is a step of a Pipeline as it is.
"""
