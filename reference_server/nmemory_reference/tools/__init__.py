"""What a tool is: its declaration, its arguments, its errors, and which surface shows it."""
