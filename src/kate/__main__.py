"""``python -m kate`` is the command ``kate``."""

from kate.cli import main

if __name__ == "__main__":
    main()
