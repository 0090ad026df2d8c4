"""Open tasks after the last lesson: nobody grades them, and no solution is shipped. Each has a check of properties and a board
of one's own best figures.

`task`, what a property and a task are, and the answer ← `on_device`, what a call enqueued, run again on other numbers ←
a file for each task: `convolution`, `product`, `memory` (with `steps`, real training steps), `language` (with `speech`, the texts, and `drawing`, bets that
the draws do not follow their probabilities).
"""
