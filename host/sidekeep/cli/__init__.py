"""The command line: `sidekeep …` for people and scripts. One file a command; each imports only what it needs."""
