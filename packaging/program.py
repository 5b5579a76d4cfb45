"""Starts the kraftool that needs no Python on the host.

Owns two differences from `python -m kraftool`. kraftool starts itself again as its Python, for
`recover guide`, `recover rehearse` and the dashboard's long work: the program answers to these
options of Python. And it takes its own libraries out of the way of Java, ssh and a pager.
"""

import os
import sys


def main() -> None:
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    # Without that path it has to start as if by a user: what it unpacked is for this process alone.
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    if sys.argv[1:2] == ["-c"] and len(sys.argv) > 2:
        code = sys.argv[2]
        del sys.argv[1:3]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        return
    if sys.argv[1:3] == ["-m", "kraftool"]:
        del sys.argv[1:3]
    from kraftool.commands import main as kraftool

    kraftool()


main()
