"""Reproduction: every table and figure of the paper, ours beside theirs, from one grid file.

paper.toml    the grid: which runs make which output; the only place where it is written
spec.py       reads it                             plan.py     outputs → cells → runs
portraits.py  what figures 2, 3 and table 3 need   corpora.py  smaller data sets for a quick look
jobs.py, workers.py, resources.py                  runs side by side, resumed, within cores and memory
found.py      cells → numbers or the reason why there is none
    tables.py, words.py, figures.py, runs.py           outputs → blocks of the page
    claims.py, findings.py                             what the paper claims, what we found
    variants.py   a row of the tables → a model of the registry and its settings
book.py       results.jsonl → index.html, report.md, figures
"""
