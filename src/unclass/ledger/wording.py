"""What a pack says in words: to the person who asked, and to the regulator."""

from collections.abc import Mapping
from typing import Any

LEFT_TO_DO = (
    "The training images themselves, in every place where they are kept: this concerns the model only.",
    "Backups and archives that hold the original model or the images.",
    "Models derived from the original: fine-tuned, distilled, quantised or exported, and what was deployed of them.",
    "Caches: embeddings, feature stores, indexes and logs of predictions made with the original.",
    "Recipients to whom the original or the images were passed on (GDPR Art. 19).",
)

# In the words of NIST AI 100-2 E2025, Adversarial Machine Learning: A Taxonomy and Terminology.
THREAT_MODEL = {
    "attacker's goal": "privacy compromise: membership inference, data reconstruction and property inference "
    "about what was to be forgotten",
    "attacker's knowledge": "white-box: the unlearned weights, the architecture and the method; "
    "the original model and the forgotten images are not assumed to be known",
    "attacker's capabilities": "query access, and on a copy of the weights: reading activations, re-estimating "
    "normalisation statistics, training on images of other classes; no control of training data or of the model itself",
    "stage": "deployment time: the attack comes after the erasure",
    "attacks tried": "black-box membership inference (population attack, attack success rate); white-box: probing "
    "features from one image, relearning from few images, recalibrating batch normalisation, the class's own logit",
    "attacks not tried": "data reconstruction (model inversion), property inference, comparing original and unlearned "
    "weights by someone who kept the original",
}

# Of single images fewer attacks are tried than of a class.
THREAT_MODEL_OF_IMAGES = {
    **THREAT_MODEL,
    "attacks tried": "black-box membership inference: confidence, entropy, modified entropy and loss of the listed "
    "images against those of unseen images of their classes",
    "attacks not tried": "membership inference with models trained with and without each image; all white-box attacks "
    "(features, activations, relearning); " + THREAT_MODEL["attacks not tried"],
}

RESIDUAL_RISK = (
    "Unlearning is approximate: it has no formal guarantee such as (ε, δ)-certified removal.",
    "Who has kept the original model can compare it with the new one and learn what was erased.",
    "The digests of erased images let someone who has an image find out that it was erased.",
)


def why_not_retrained(card: Mapping[str, Any], references: int) -> str:
    """Say why the model was changed and not trained anew."""
    recipe = card.get("recipe") or {}
    known = card.get("trained_on") or {}
    epochs = f" ({recipe['epochs']} epochs)" if "epochs" in recipe else ""
    count = f" on {known['count']:,} images" if known.get("count") else ""
    text = f"Training anew{count}{epochs} repeats the whole training for each request; the weights were changed instead"
    if references:
        return f"{text}, and the result was compared with {references} model(s) trained without what was erased."
    return f"{text}. No model trained anew was at hand to compare with, so that the audit's limits do not rest on one."


def letter(manifest: Mapping[str, Any], model: str) -> str:
    """Return a text for the person who asked, in plain words."""
    request, done, verdict = manifest["request"], manifest["done"], manifest["verdict"]
    count = (manifest["erased"]["images"] or {}).get("count")
    learned = f"from {count} images" if count else ""
    if request["asks_for"] != f"{count} images":
        learned = f"{learned} ({request['asks_for']})".strip()
    checked = {
        "passed": "The checks we ran no longer find it, and the rest of the model works as before.",
        "passed without reference": "The checks we ran no longer find it, and the rest of the model works as before.",
        "failed": "One of the checks we ran still found a trace of it.",
        "undecided": "The checks we ran could not decide whether all of it is gone.",
    }[verdict["status"]]
    lines = [
        f"Your request {request['id']}, received on {request['received']}",
        "",
        "You asked us to erase what one of our image classifiers has learned about you.",
        "",
        f'On {done["made"][:10]} we changed the model "{model}" so that it gives up what it had learned {learned}.',
        checked,
        "",
        "What this does not mean: there is no proof that nothing is left; a new kind of attack may find what ours did",
        "not. The new model has taken the place of the old one. The old one is kept locked away only for as long as we",
        "may have to undo a mistake, and is then destroyed.",
        "",
        "What we look at besides: your images in our archives and backups, and other models made from this one.",
        "",
        "You may ask us for the full record of what was done, and you may complain to your data protection authority.",
        "",
    ]
    return "\n".join(lines)
