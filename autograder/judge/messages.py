"""Parse the messages of a student's kernel. They may be forged, so nothing here raises, whatever they contain."""

import base64
import io
import json
import re

import numpy as np
from nbformat import ValidationError
from nbformat.v4 import new_output, output_from_msg

from autograder.characters import whole
from autograder.checks.inside import Outcome, Trial

OUTPUT_LIMIT = 100_000  # characters of output that are kept per cell; the rest is read and dropped
LARGEST_MESSAGE = 32 * 2**20  # bytes; at a larger one the connection is closed instead of holding it
RECORDS = "application/x-course-records+json"
LONGEST_ARRAY = 50_000_000  # characters of base64 that are still decoded
PLAIN = "biufcU"  # kinds of dtype that can be compared: booleans, numbers and texts


def kind_and_content(message, request: str) -> tuple[str, dict]:
    """Kind and content of a message that answers that request; ("", {}) for any other, and for what is none."""
    parent, kind, content = (message.get(part) for part in ("parent_header", "msg_type", "content"))
    if not isinstance(parent, dict) or parent.get("msg_id") != request:
        return "", {}
    return (kind, content) if isinstance(kind, str) and isinstance(content, dict) else ("", {})


def records_in(content: dict):
    """The records that a message shows, as they were sent; None if it shows none."""
    data = content.get("data")
    return data.get(RECORDS) if isinstance(data, dict) else None


def decoded(text) -> list[Trial] | None:
    """The trials that the kernel sent (`inside.encoded`), or None if it is anything but a list of dicts."""
    try:
        trials = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(trials, list) or not trials or not all(isinstance(trial, dict) for trial in trials):
        return None
    return [trial_of(records) for records in trials]


def trial_of(records: dict) -> Trial:
    return Trial({whole(str(name)): outcome_of(record) for name, record in records.items()})


def outcome_of(record) -> Outcome:
    """The outcome that a record encodes; an error "BadReply" for anything else."""
    try:
        if "error" in record:
            parts = ("type", "message", "where")
            bases = [whole(str(name)[:200]) for name in list(record["error"].get("bases", ()))[:10]]
            error = {part: whole(str(record["error"].get(part, ""))[:2000]) for part in parts}
            if "check" in record["error"]:
                error["check"] = whole(str(record["error"]["check"])[:2000])
            return Outcome(error=error | ({"bases": bases} if "bases" in record["error"] else {}))
        if len(record["array"]) > LONGEST_ARRAY:
            raise ValueError("the array is too large")
        # Not np.load, which also opens zip files and pickles.
        array = np.lib.format.read_array(
            io.BytesIO(base64.b64decode(record["array"], validate=True)), allow_pickle=False
        )
        if array.dtype.kind not in PLAIN:
            raise TypeError(f"its dtype is {array.dtype}")
        kind = whole(str(record.get("kind", ""))[:200])
        return Outcome(with_characters(array) if array.dtype.kind == "U" else array, kind=kind)
    except Exception as error:  # NumPy raises whatever forged bytes make it stumble over, its parser's own errors too
        return Outcome(
            error={"type": "BadReply", "message": f"what came back is no array ({error})"[:2000], "where": ""}
        )


def with_characters(array: np.ndarray) -> np.ndarray:
    """An array of texts in which every number is a character that UTF-8 can hold; U+FFFD stands for others."""
    native = array.astype(array.dtype.newbyteorder("="), order="C")
    if native.size == 0 or native.itemsize == 0:
        return native
    codes = native.reshape(-1).view(np.uint32)
    codes[(codes > 0x10FFFF) | (codes >= 0xD800) & (codes < 0xE000)] = 0xFFFD
    return native


def keep_output(outputs: list, message: dict, kept: int) -> int:
    """Add a message's output to the cell's outputs while there is room; returns how much is kept by now."""
    if kept > OUTPUT_LIMIT:
        return kept
    output = plain_output(message)
    if output is None:
        return kept
    size = len(json.dumps(output))
    if kept + size > OUTPUT_LIMIT:
        if output.output_type == "stream":
            outputs.append(new_output("stream", name=output.name, text=output.text[: max(OUTPUT_LIMIT - kept, 0)]))
        outputs.append(new_output("stream", name="stdout", text="\n[the rest of the output was cut]\n"))
        return OUTPUT_LIMIT + 1
    if outputs and output.output_type == "stream" == outputs[-1].output_type and outputs[-1].name == output.name:
        outputs[-1].text += output.text
    else:
        outputs.append(output)
    return kept + size


def is_plain(mime: str, value) -> bool:
    """Whether it is text, and for a picture valid base64: pages insert it between quotes."""
    if mime in ("image/png", "image/jpeg", "image/gif"):
        return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", value) is not None
    return isinstance(value, str) or mime.endswith("json")


def plain_output(message: dict):
    """A message's output as nbformat, nbconvert and the pages expect it; None if it is none, or not made as Jupyter's."""
    try:
        output = output_from_msg(message)
        if output.output_type == "stream":
            return new_output(
                "stream",
                name=output.name if output.name in ("stdout", "stderr") else "stdout",
                text=whole(str(output.text)),
            )
        if output.output_type == "error":
            return new_output(
                "error",
                ename=whole(str(output.ename)),
                evalue=whole(str(output.evalue)),
                traceback=[whole(str(line)) for line in output.traceback],
            )
        data = {str(mime): value for mime, value in output.data.items() if is_plain(str(mime), value)}
        data = json.loads(whole(json.dumps(data, ensure_ascii=False)))
        data.setdefault("text/plain", "")  # what a page shows where it shows nothing else
        count = {"execution_count": None} if output.output_type == "execute_result" else {}
        return new_output(output.output_type, data, **count)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError, ValidationError):
        return None
