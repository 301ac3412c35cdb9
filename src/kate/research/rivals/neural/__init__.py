"""Neural rivals, trained by PyTorch. NAME.py has the estimators, NAME_module.py their networks.

autoencoders      AE, DAE, CAE, KSAE
vae               the variational autoencoder
neural_topics     NVDM, ProdLDA, ETM
docnade           DocNADE (word_tree.py: its binary tree of words)
dbn               the deep belief net

neural_model.py     the estimator behind all of them; neural_training.py, neural_steps.py: how it is trained
document_module.py  what every network offers; batches.py: the documents that it gets
gaussian.py         networks that encode a document as a Gaussian; losses.py
"""
