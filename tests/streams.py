"""What tests of reading share: the labels of a column, and an object that only speaks Arrow."""


def labels(data, name):
    return [data.levels[name][code] for code in data.column(name)]


class Stream:
    """Any object with the Arrow stream interface, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)
