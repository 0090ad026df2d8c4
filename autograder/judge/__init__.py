"""The judge: run a probe (`inside`, in the student's process), compare with the reference (`verdict`), and say so."""
