"""The packs: frozen contracts as data. Nothing here is code."""
