"""The life of a capsule: sessions, pins, tiers, and the end."""
