"""Other processes that work is handed to: how they are reached and started. What they do is not known here."""
