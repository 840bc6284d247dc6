"""`python -m koopsieve` is `koopsieve`."""

from koopsieve.cli import main

main()
