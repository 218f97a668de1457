"""The memory on disk: one SQLite file, every row of which belongs to a tenant."""
