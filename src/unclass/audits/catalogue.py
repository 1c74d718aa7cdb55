"""Every check by name: what it asks, in which direction it is good, and whether the verdict rests on it."""

from dataclasses import dataclass

from unclass.audits.result import Direction, Group


@dataclass(frozen=True)
class Kind:
    """What is always the same about a check, whatever the models.

    `carries` says whether the verdict rests on it, `forgetting` whether the original should fail it, `rank` its place
    in the order of telling. Of several that close the same `door`, one is shown. `finding` is what a model that fails
    it does, in plain words: `{it}` and `{its}` are the class, or classes.
    """

    key: str
    name: str
    group: Group
    question: str
    direction: Direction = "lower"
    unit: str = "share"
    carries: bool = False
    forgetting: bool = True
    rank: int = 100
    door: str = ""
    finding: str = ""


KINDS = (
    Kind(
        "recalibration", "accuracy on D_f after recalibration", "residual",
        "Does the class come back when batch norm is refreshed?", carries=True, rank=10,
        finding="the model names {it}, as it is or with batch norm refreshed",
    ),
    Kind(
        "own-logit", "own logit", "residual", "Does the class's own output still tell its images?", unit="AUC",
        carries=True, rank=20, finding="{its} own output still tells {its} images",
    ),
    Kind(
        "one-image", "class read from one image", "residual", "Do the features know the class from a single image?",
        carries=True, rank=30, door="features", finding="the features know {it} from a single image",
    ),
    Kind(
        "same-features", "likeness to the original's features", "residual",
        "Are the features of the class still the original's?", unit="CKA", carries=True, rank=32, door="features",
        finding="the features of {its} images are still the original's",
    ),
    Kind(
        "relearn-retain", "relearning from D_r", "residual",
        "Does the class come back by training on the other classes only?", carries=True, rank=31, door="features",
        finding="training on the other classes alone brings {it} back",
    ),
    Kind(
        "population-attack", "population attack", "privacy",
        "Can its training images be told from ones never seen?", unit="|AUC − ½|", carries=True, rank=40,
        finding="{its} training images can be told from ones never seen",
    ),
    Kind(
        "retain-change", "change on D_rt", "utility", "Are the other classes unharmed?", "higher", "points",
        carries=True, forgetting=False, rank=50, finding="the other classes are harmed",
    ),
    Kind(
        "forget-test-accuracy", "accuracy on D_ft", "utility", "Does the model still name unseen images of the class?",
    ),
    Kind(
        "worst-class-change", "change of the worst class", "utility", "Which remaining class pays most?", "higher",
        "points", forgetting=False,
    ),
    Kind(
        "attack-success-rate", "attack success rate", "privacy",
        "How much of D_f does the paper's attack take for training images?", "near",
    ),
    Kind(
        "tpr-at-1-fpr", "TPR at 1 % FPR", "privacy", "How many training images are found almost without error?",
    ),
    Kind(
        "neighbour-attack", "neighbour-class attack", "privacy",
        "Do the probabilities of the nearest classes tell training images from ones never seen?", unit="|AUC − ½|",
    ),
    Kind("rmia", "RMIA", "privacy", "Does it show beside models that never saw the class?", unit="|AUC − ½|"),
    Kind(
        "u-lira", "U-LiRA", "privacy",
        "Does the model look more like one that unlearned the class than like one that never saw it?", unit="AUC − ½",
    ),
    Kind(
        "place-by-bias", "place by head bias", "privacy",
        "Which class was erased? Its place from the lowest, 1 = lowest of all, by the head's bias", "higher", "place",
    ),
    Kind(
        "place-by-norm", "place by head norm", "privacy",
        "Which class was erased? Its place by the norm of the head's rows", "higher", "place",
    ),
    Kind(
        "place-by-share", "place by share of predictions", "privacy",
        "Which class was erased? Its place by the share of predictions", "higher", "place",
    ),
    Kind("linear-probe", "linear probe", "residual", "Can a new linear head on the features find the class?"),
    Kind("nearest-mean", "nearest class mean", "residual", "Is the class's mean feature nearest to its images?"),
    Kind(
        "prototype", "prototype attack", "residual",
        "Does the head find the class again when the mean of five images is mixed into its row?",
    ),
    Kind(
        "new-head", "confidence of a new head", "residual",
        "How sure is a head trained on the other classes alone about images of this one?", "near",
    ),
    Kind(
        "idi", "information difference (IDI)", "residual",
        "What do the layers tell about the class, from retrained (0) to original (1)?", unit="IDI",
    ),
    Kind(
        "relearn-steps", "steps to relearn", "residual",
        "How many steps on ten forgotten images bring back half of D_ft?", "higher", "steps",
    ),
    Kind(
        "js-forget", "JS divergence on D_f", "closeness", "Do the outputs on D_f match retraining's?", unit="nats",
    ),
    Kind(
        "js-retain-test", "JS divergence on D_rt", "closeness", "Do the outputs on D_rt match retraining's?",
        unit="nats",
    ),
    Kind(
        "activation-distance", "activation distance", "closeness", "How far apart are the probabilities on D_f?",
        unit="L2",
    ),
    Kind(
        "label-histograms", "label histograms", "closeness", "Do forget images go where they should?",
        unit="total variation",
    ),
    Kind(
        "equal-predictions", "equal predictions", "closeness", "How many D_f images get retraining's prediction?",
        "higher",
    ),
    Kind(
        "entropy-distance", "entropy distributions", "closeness", "Is the model as unsure about D_f?", unit="nats",
    ),
    Kind("zrf", "ZRF", "closeness", "Are the outputs on D_f like an untrained network's?", "higher"),
)  # fmt: skip
CHECKS = {kind.key: kind for kind in KINDS}
