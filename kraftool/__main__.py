"""`python -m kraftool` is the same as `kraftool`."""

from kraftool.commands import main

main()
