"""`python -m syncopt`: the command line."""

from syncopt.cli import main

if __name__ == "__main__":
    main()
