"""What is only about the paper: its tables, its claims beside what a study measured, and experiments on its theory.

The paper is Scutari, "Beyond Uniform Priors in Bayesian Network Structure Learning" (2017). The study itself, whatever
its design, is that of `mapdag.study`; the formulas are in `mapdag.theory`.
"""
