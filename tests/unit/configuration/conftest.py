"""Makes the fake models of the integration tests importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "integration"))
