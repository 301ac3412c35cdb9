"""Reproduction: every table and figure of the paper, our numbers beside the paper's, from one grid file.

paper.toml               the grid: which runs make which output; written here and nowhere else
spec.py                  reads it
plan.py                  outputs → cells → runs (variants.py: which model and settings a cell is run with)
grid_corpora.py          the corpora of a grid, or a small part of them for a quick look
figure_data.py           what figures 2 and 3 and table 3 need of a run
jobs.py, workers.py      makes the missing runs in several processes, within cores and memory (resources.py)
lookup.py                cells → numbers, or the reason why there is none
score_tables.py, word_tables.py, figures.py, runs.py     outputs → tables, figures and text of the page
claims.py, findings.py   what the paper claims, what we found
reproduction_report.py   results.jsonl → index.html, report.md, figures
"""
