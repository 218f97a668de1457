"""Recalling: terms and vectors in, evidence or an honest empty answer out."""
