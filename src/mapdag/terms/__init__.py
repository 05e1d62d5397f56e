"""Sums of the log terms that likelihoods are made of: `formulas` has the terms, `sums` adds and remembers them."""
