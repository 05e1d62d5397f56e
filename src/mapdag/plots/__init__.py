"""Pictures. The only importers of the plotting library."""
