"""The ``nmemory`` command: a thin door to the parts. Every module here is cheap to import; the work is loaded late."""
