"""The store: everything that must last, in one SQLite file behind APSW."""
