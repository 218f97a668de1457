"""Capturing: from an item, a text or a file to capsules, with origin, taint and near duplicates."""
