"""``python -m proce``: the command ``proce``."""

import sys

from proce.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
