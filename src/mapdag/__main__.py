"""``python -m mapdag`` is the same as ``mapdag``."""

from mapdag.cli import main

if __name__ == "__main__":
    main()
