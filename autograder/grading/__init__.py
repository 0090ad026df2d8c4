"""Grading a class: submissions in, nbgrader's gradebook, grades.csv and feedback out."""
