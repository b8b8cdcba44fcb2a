"""Parse a legal action from the answer of a language model or a person, first strictly and then leniently."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from helsinki_env.data import UserError, short_repr
from helsinki_env.text.words import WrittenAction, legal_text

#: Number of characters at the end of an answer that are parsed.
_MAX_READ = 20_000
#: Maximum number of opening braces that are tried as the start of a JSON object, starting with the last one.
_MAX_OBJECTS = 100
#: Maximum number of legal actions listed in an error message.
_MAX_LISTED = 400
_AROUND = " \t\r\n*_`\"'.,:;!<>#-"
_LABEL = re.compile(
    r"(?:(?:my|the|final|chosen|best)\s+)*(?:action|answer|move|choice|decision)(?:\s+is)?\W*[:=][^\w-]*"
)
_NUMBER = re.compile(r"(?:(?:action|id|option|number)\s*#?\s*)?\[?\(?(\d{1,6})\)?\]?")
_NEGATIVE = re.compile(r"-\d+")
_JSON = json.JSONDecoder()


class ActionTextError(UserError):
    """Raised if an answer names no legal action. The message can be sent back to request another answer.

    Attributes:
        problem: the error message without the list of legal actions.
    """

    def __init__(self, problem: str, actions: Sequence[WrittenAction] = ()) -> None:
        self.problem = problem
        listed = f"\nLegal actions:\n{legal_text(actions[:_MAX_LISTED])}" if actions else ""
        super().__init__(problem + listed)


def parse_action(answer: str, actions: Sequence[WrittenAction]) -> int:
    """Return the id of the legal action named in an answer.

    The parser first tries the whole answer as an id, words or notation, ignoring case. It then tries the last JSON
    object with an ``action`` key, and finally the last line. In the last two cases, a unique prefix of the words or
    notation is sufficient.

    Args:
        answer: text of the answer.
        actions: legal actions, as returned by `legal_actions`.

    Raises:
        ActionTextError: if the answer names no legal action; the message describes the problem and lists legal actions.
    """
    if not isinstance(answer, str):
        raise ActionTextError(f"answer: found {short_repr(answer)}, expected text", actions)
    text = answer[-_MAX_READ:]
    found = _exact(_plain(text), actions)
    if found is not None:
        return found
    named = _last_object(text)
    if named is not None:
        return _named(named["action"], actions)
    lines = [line for line in text.splitlines() if _plain(line)]
    if not lines:
        raise ActionTextError("answer: found no text, expected an action", actions)
    return _named(_LABEL.sub("", _plain(lines[-1]), count=1), actions)


def _plain(text: str) -> str:
    """Return a text in lower case, without extra spaces or surrounding punctuation, except the sign of a number."""
    folded = " ".join(text.casefold().split())
    signed = folded.strip(_AROUND.replace("-", ""))
    return signed if _NEGATIVE.fullmatch(signed) else folded.strip(_AROUND)


def _forms(action: WrittenAction) -> tuple[str, ...]:
    words, notation = _plain(action.words), _plain(action.notation)
    return words, notation, f"{action.id}: {words} ({notation})", f"{words} ({notation})"


def _exact(text: str, actions: Sequence[WrittenAction]) -> int | None:
    """Return the action whose id, words, notation or list entry equals a text, or None."""
    text = text.rstrip(")") + ")" if text.endswith(")") else text
    number = _NUMBER.fullmatch(text)
    if number:
        return next((one.id for one in actions if one.id == int(number[1])), None)
    closed = {text, text + ")"}
    return next((one.id for one in actions if closed.intersection(_forms(one))), None)


def _last_object(text: str) -> dict[str, Any] | None:
    """Return the last JSON object with an ``action`` key, or None."""
    at = len(text)
    for _ in range(_MAX_OBJECTS):
        at = text.rfind("{", 0, at)
        if at < 0:
            return None
        try:
            found = _JSON.raw_decode(text, at)[0]
        except (ValueError, RecursionError):  # ValueError: also raised for a number with thousands of digits
            continue
        if "action" in found:
            return dict(found)
    return None


def _named(value: object, actions: Sequence[WrittenAction]) -> int:
    """Return the action named by a JSON value or a line; raise ActionTextError if there is none."""
    shown = short_repr(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if 0 <= value < 10**6 else "?"
    if not isinstance(value, str):
        raise ActionTextError(f"action: found {shown}, expected an id or the words of a legal action", actions)
    text = _plain(value)
    found = _exact(text, actions)
    if found is not None:
        return found
    if not text or _NUMBER.fullmatch(text):
        raise ActionTextError(f"action: found {shown}, expected the id or the words of a legal action", actions)
    begun = [one for one in actions if any(form.startswith(text) for form in _forms(one)[:2])]
    if len(begun) == 1:
        return begun[0].id
    if begun:
        raise ActionTextError(f"action: found {shown}, which fits {len(begun)} legal actions, expected one", begun)
    raise ActionTextError(f"action: found {shown}, which is not a legal action now, expected a legal one", actions)
