"""`python -m robai` is the command `robai`."""

import sys

from robai.cli import main

sys.exit(main())
