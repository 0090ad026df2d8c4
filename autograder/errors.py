"""Errors that are meant for people: the command line prints them as one sentence, without a traceback."""


class CourseError(Exception):
    """Something in a lesson, a check or a submission is not as it must be; the message says what and where."""
