"""What every search has in common: its options, its limits and progress, its memory, its result."""
