from verdicts import NotOffered


def __getattr__(name):
    raise NotOffered(f"numdifftools.{name}")
