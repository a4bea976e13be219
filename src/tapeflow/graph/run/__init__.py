"""Plans and sessions: what runs a graph."""
