"""Where needle's homework is handed in: nothing is."""
