"""The judge: observe cases (`inside`, in the student's process), compare with the reference (`verdict`), and say so."""
