"""What the tools do: one module a verb, and the pure rules that they follow."""
