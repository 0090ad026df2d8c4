"""Where a student's kernel runs: in a sandbox without network, sources, gradebook, seed, or other students."""
