"""The CPU engine. Start with ``cpu_engine.py`` (what it offers) and ``step.py`` (one batch, pass by pass).

cpu_engine.py    CPUEngine: checks its input, allocates memory, runs the batches in threads
step.py          one training step: the passes over a batch, in compiled code

the passes of a step
sampling.py      which words a batch reconstructs: all, or its own and a sample of the others
hidden.py        documents → hidden layer, and the gradient back through it
winners.py       the competition: which neurons win a document
decoder.py       hidden layer → words: logits, loss, and the gradient for the hidden layer
own_words.py     with a sample: words that only one document of the batch has
gradient.py      the gradient of the weights and the optimizer's step

what they are built on
buffers.py       the arrays that the passes share, and constants
packs.py         many arrays handed to compiled code by one address
barrier.py       threads that share the work of a pass and wait for each other
simd_math.py     vectors of floats and functions of them: exp, log, 1 / x
simd_memory.py   vectors in memory: load, store, sums, transposing
addresses.py     places in memory, in bytes
target.py        the processor that numba compiles for: width of its vectors, instructions
machine_code.py  what LLVM optimises when; compiled code is kept on disk
"""
