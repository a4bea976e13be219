"""What makes nodes while a graph is built: calls of rows, variables, placeholders, gradients."""
