"""The contenders: one small adapter each, run in a process of its own that stays warm between rounds.

An adapter has `load(folder)`, which brings a data set into the library's own form, untimed, and `run(objective)`, which
times the learning only and returns the seconds, the arcs and whatever else is known. `worker.py` serves it over a pipe.
"""
