"""The pytest plugin: one test item a case, against the target that ``--nmemory-target`` names."""
