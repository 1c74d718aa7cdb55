"""Words of the glossary inside a text, each with its meaning where the pointer rests."""

import re

from markupsafe import Markup, escape

from unclass.report.glossary import GLOSSARY

# Words that a reader may stumble over; the others explain themselves where they stand.
MARKED = (
    "accuracy", "activation distance", "ASR", "AUC", "batch norm", "CKA", "control", "D_f", "D_ft", "D_r", "D_rt",
    "digest", "entropy", "features", "Grad-CAM", "head", "head-only", "IDI", "interval", "JS divergence", "likeness",
    "limit", "linear probe", "logit mask", "McNemar test", "member", "nats", "nearest class mean",
    "neighbour-class attack", "noise band", "own logit", "population attack", "prototype attack", "recalibration",
    "relearning", "retrained", "RMIA", "self-check", "speed-up", "t-SNE", "TPR at 1 % FPR", "U-LiRA", "ZRF",
)  # fmt: skip
KNOWN = {re.sub(r"[\s-]", " ", word).lower(): word for word in MARKED if word in GLOSSARY}
LONGEST_FIRST = sorted(KNOWN, key=len, reverse=True)
EITHER = "|".join(re.escape(word).replace(r"\ ", r"[\s-]") for word in LONGEST_FIRST)
PATTERN = re.compile(rf"(?<![\w-])({EITHER})(?![\w-])", re.IGNORECASE)


def terms(text: object) -> Markup:
    """Return a text in which the first mention of each marked word carries its meaning; names in it stay text.

    What stands between backticks is code.

    >>> terms("AUC <b>")
    Markup('<dfn class="term" tabindex="0" data-word="AUC">AUC</dfn> &lt;b&gt;')
    """
    seen: set[str] = set()

    def marked(match: re.Match[str]) -> str:
        word = KNOWN[re.sub(r"[\s-]", " ", match[1]).lower()]
        if word in seen:
            return match[1]
        seen.add(word)
        return f'<dfn class="term" tabindex="0" data-word="{escape(word)}">{match[1]}</dfn>'

    whole = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", str(escape(text)))  # no line ends between 100 and %
    parts = enumerate(re.split("`([^`]+)`", whole))
    return Markup("".join(f"<code>{part}</code>" if place % 2 else PATTERN.sub(marked, part) for place, part in parts))
