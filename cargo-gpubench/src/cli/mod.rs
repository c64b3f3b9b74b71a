//! The command line: arguments as types, one file per command.
