"""For whoever learns alone: how far they are, and their work beside the reference."""
