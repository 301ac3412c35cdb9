"""Research: the paper again, KATE beside its rivals. Nothing of the product imports it.

datasets/    the data sets of the paper and others, each loaded as a Corpus with a fixed split
rivals/      the models that KATE is compared with, as scikit-learn estimators
registry/    every model by its name, and what may be tuned of it
metrics/     arrays → scores
evaluation/  a corpus and a model → scores; grids of runs; tuning
report/      tables and charts → one page
reproduce/   every table and figure of the paper
"""
