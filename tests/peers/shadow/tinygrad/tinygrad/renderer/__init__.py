"""Nothing is rendered here."""
