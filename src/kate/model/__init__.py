"""Counts → vectors: the K-competitive autoencoder, and the model of texts that users fit, save and load.

kate.py             KATE: counts → vectors, the scikit-learn estimator; newcomers start here
fitting.py          the whole of a fit, without scikit-learn
settings.py         its parameters: what is allowed, what None becomes, what the paper took
training.py         what an epoch is: batches, learning rates, the held-out loss
start.py            where training starts: the leading directions of the documents
block_products.py   products of tall matrices, by threads of our own
vector_map.py       from neurons to vectors: one linear map
finishing.py        from a trained network to what a fitted model encodes with
loop.py             the training loop of every model: epochs, early stopping, history, Ctrl-C
updating.py         a fitted network goes on with new documents and words · start_renewal.py: its start, made anew
text_update.py      the same for a whole TextModel · update_report.py: what moved
training_state.py   what an update goes on from; a fit that fails leaves the model as it was
encoder.py          Encoder: what a trained network needs to turn counts into vectors
text_model.py       TextModel: texts → vectors, topics, similar words; its parameters, fitting and saving
text_answers.py     what a fitted TextModel answers
plain_estimator.py  scikit-learn's rules for an estimator, without importing it
similar_words.py    the words nearest to a word
topic_answers.py    what it says about topics
corpus_outputs.py   a corpus batch by batch → its vectors or topics in a file; corpus_trends.py its topics through time
model_folder.py     the folder of a saved TextModel; model_card.py: its README.md

What a *fitted* model does needs neither scikit-learn nor a compiler; fitting a TextModel needs only the latter.
"""
