"""The students' copy of the course: what it holds (`contents`), as one file (`archive`). No solution, no mistake's code."""
