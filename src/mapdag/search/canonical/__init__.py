"""An order of the columns that only the data decide."""
