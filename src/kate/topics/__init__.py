"""Neurons → topics: what the two poles of each neuron are about.

topic.py      Topic and Topics: what users read
poles.py      which pole wins which documents, and the words that describe it
coherence.py  which words occur together (NPMI), and the order that puts a coherent core first
"""
