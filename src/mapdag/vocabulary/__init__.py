"""What users of other packages call things: hints to the names here, for options, functions, scores and flags."""

from mapdag.vocabulary.hints import attribute_hint, flag_hint, name_hint, score_hint, unknown_options

__all__ = ["attribute_hint", "flag_hint", "name_hint", "score_hint", "unknown_options"]
