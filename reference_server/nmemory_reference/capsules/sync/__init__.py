"""Reconciling this store with another one."""
