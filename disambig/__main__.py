"""``python -m disambig`` is the command ``disambig``."""

from disambig.cli.main import run

if __name__ == "__main__":
    run()
