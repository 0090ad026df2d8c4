"""What a notebook uses of the course besides checks. It imports nothing of ours, so a submission can have it as it is."""

from contextlib import contextmanager


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


class Ran(dict):
    """{name: calls} of functions, and `whose` they are, by the same names."""

    def __init__(self):
        self.whose = {}

    def add(self, name, whose):
        """Count one call."""
        if self.whose.setdefault(name, whose) != whose:  # two engines have a function of that name
            name = f"{name} ({whose})"
            self.whose[name] = whose
        self[name] = self.get(name, 0) + 1

    def __str__(self):
        if not self:
            return "No function that a lesson asks for was seen to run."
        width = max(map(len, self))
        lines = [f"{'calls':>9}   {'function':{width}}   whose"]
        ordered = sorted(self.items(), key=lambda each: (self.whose[each[0]], -each[1]))
        return "\n".join(lines + [f"{calls:9,}   {name:{width}}   {self.whose[name]}" for name, calls in ordered])


class ReferenceAlone:
    """`mine` where no notebooks of earlier lessons are: the reference stands in for them, and the sentence says so."""

    def __init__(self, sentence):
        self.sentence = sentence

    def __call__(self, before=None):
        print(self.sentence)

    def off(self):
        """Nothing to take back."""

    @contextmanager
    def reference(self):
        """It is the reference's anyway."""
        yield

    @contextmanager
    def watch(self):
        """What nobody looks for is not counted."""
        yield Ran()
