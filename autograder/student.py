"""What a notebook uses of the course besides checks. It imports nothing, so a submission can have it as it is."""


def predict(**guesses) -> "Prediction":
    """Write guesses down before the run: guess = predict(a_grad=3, b_grad=None); later guess.compare(a_grad=…)."""
    return Prediction(guesses)


class Prediction:
    """Guesses by name, to be held against what the run gives. Never graded."""

    def __init__(self, guesses):
        self.guesses = guesses

    def compare(self, **results) -> None:
        """Print each guess beside what came out."""
        for name, result in results.items():
            guess = self.guesses.get(name)
            if guess is None or guess is ...:
                print(f"{name}: you made no guess; it is {result:.6g}")
                continue
            try:
                hit = abs(float(guess) - result) <= 0.01 * max(1.0, abs(result))
            except (TypeError, ValueError):
                print(f"{name}: your guess {guess!r} is no number; it is {result:.6g}")
                continue
            print(f"{name}: you said {float(guess):g}, it is {result:.6g}" + (" ✓" if hit else "  ← why?"))


def add_to_class(cls):
    """Decorator: the function below becomes a method of `cls`, so that a class can grow over several cells."""

    def add(function):
        setattr(cls, getattr(function, "fget", function).__name__, function)  # a property has no name of its own
        return function

    return add
