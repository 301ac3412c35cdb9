"""Evaluation: a corpus and a model → scores on all tasks that fit them, for one run or for a grid of runs.

corpora.py       data sets by name, and your own documents, to be measured on
model_inputs.py  what a model reads of a corpus: counts or sequences, validation documents, the vocabulary
run.py           one run: fit, encode, score
scoring.py       the tasks by name, one function each; those of search in retrieval_scoring.py, of topics in
                 topic_scoring.py, and what all get in fitted_model.py
found_topics.py  topics of any model, all in the same number
grid.py          many runs, of which only the missing ones are made (run_keys.py: how a kept run is found)
results.py       results.jsonl, one line per run, and its summary
tuning.py        settings searched on validation documents
paper_scores.py  the numbers of the paper

>>> from kate.research.evaluation import CorpusSource, evaluate, plan_runs, run_grid, summarise
>>> run = evaluate(corpus, "kate")                                                   # doctest: +SKIP
>>> runs = plan_runs([CorpusSource.dataset("20news")], ["kate", "kate-paper"], [128], range(3))
>>> rows = summarise(run_grid(runs, "results/results.jsonl"))                        # doctest: +SKIP

The protocol, for every model: it is fitted on the training documents without the validation documents, which
it may follow to stop early; probes choose their strength on the validation documents; the test documents are only
encoded and scored.
"""

from kate.research.evaluation.corpora import CorpusSource, corpus_of, question_corpus
from kate.research.evaluation.grid import GridProgress, PlannedRun, plan_runs, run_grid
from kate.research.evaluation.results import Score, Summary, read_results, summarise
from kate.research.evaluation.run import TASKS, TOPIC_TASKS, Run, evaluate

__all__ = [
    "TASKS",
    "TOPIC_TASKS",
    "CorpusSource",
    "GridProgress",
    "PlannedRun",
    "Run",
    "Score",
    "Summary",
    "corpus_of",
    "evaluate",
    "plan_runs",
    "question_corpus",
    "read_results",
    "run_grid",
    "summarise",
]
