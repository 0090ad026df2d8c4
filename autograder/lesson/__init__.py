"""Lessons: read a text (`text`), pull solutions from the package (`symbols`), make notebooks (`notebooks`)."""
