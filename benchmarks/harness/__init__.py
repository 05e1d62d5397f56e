"""What the benchmark scripts share: data, timing, targets, the machine's description, results on disk."""
