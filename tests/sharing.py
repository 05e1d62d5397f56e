"""What makes threads share every request, however small, so that tests meet all that happens between them."""

from mapdag.families import crew, scores
from mapdag.search.cache import cache


def share_everything(patch):
    """Have threads share whatever can be shared, in the smallest pieces."""
    patch.setattr(cache, "_WORTH_HELP", 0.0)
    patch.setattr(cache, "WORTH_A_THREAD", 1.0)
    patch.setattr(scores, "WORTH_A_THREAD", 1.0)
    patch.setattr(crew, "WORTH", 0.0)
    patch.setattr(crew, "PIECE", 1.0)
    patch.setattr(crew, "BLOCK", 1)
