"""Where a student's kernel runs: in a box without network, sources, gradebook, seed, or other students."""
