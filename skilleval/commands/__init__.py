"""The commands of the command line, one module each: `configure(parser)` and `run(arguments)`."""
