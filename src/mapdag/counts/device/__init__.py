"""Counting on a GPU: `choice` says who may count what, `plan` what is counted at once, `engine` is the engine.

What a device does is in `interface`; `cuda` is the one for NVIDIA GPUs, its kernels are in `kernels.cu`; `devices`
knows them by their names. Counts are whole numbers, so that a device's are those of any other engine.
"""
