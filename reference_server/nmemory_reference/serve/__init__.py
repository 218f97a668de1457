"""Serving the memory: configuration, dispatch, stdio, Streamable HTTP, tokens, usage."""
