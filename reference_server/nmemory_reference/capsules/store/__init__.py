"""The SQL that more than one plane needs; each function works inside its caller's transaction."""
