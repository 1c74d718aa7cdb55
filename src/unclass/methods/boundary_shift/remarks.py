"""What Boundary Shift found of its own result, in words, where it is not good."""

from collections.abc import Mapping

HELD, GAP, HARM = 0.002, 0.05, 0.25


def remarks(findings: Mapping[str, float]) -> list[str]:
    """Return a line for each finding that is not good, with what to do about it."""
    said = []
    if (held := findings.get("still_in_class", 0.0)) > HELD:
        said.append(f"{held:.1%} of the images looked at are still taken for the class; raise `rounds` or `pace`")
    if (gap := findings.get("membership_gap", 0.0)) > GAP:
        said.append(
            f"images that were trained on can be told from unseen-like ones (|AUC − ½| {gap:.3f}, above {GAP}); "
            "audit the result, and retrain if it matters who was in the training images"
        )
    if (harm := findings.get("harm", 0.0)) > HARM:
        said.append(
            f"outputs of other classes may have moved ({harm:.2f} nats, above {HARM}); "
            "evaluate them, and give some of their images with `retain_sample`"
        )
    return said
