"""From a lesson's text to a graded class: the builder, the checks, the judge, and the grading of many submissions."""
