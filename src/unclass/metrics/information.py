"""IDI, the information difference (Jeon et al. 2024): what layers still tell about the forgotten class."""

from collections.abc import Sequence
from math import log

from torch import Tensor

FOLDS, COMPONENTS = 4, 50
LEAST = 0.02  # nats, over all layers: below this the original and the retrained model tell the same


def label_information(features: Tensor, is_forgotten: Tensor, seed: int = 0) -> float:
    """I(Z; Y) ≥ ln 2 − E[−log q(y|z)]: InfoNCE with a linear critic about Y = "is it the forgotten class?", in nats.

    With as many images of either kind, InfoNCE over a whole batch is ln 2 minus the cross-entropy of a classifier: here
    logistic regression, judged on images that it was not fitted on. In [0, ln 2]; 0 with fewer than two of either kind.

    >>> import torch
    >>> apart = torch.cat([torch.zeros(40, 1), torch.ones(40, 1)])
    >>> round(label_information(apart, apart[:, 0] == 1), 1)
    0.6
    >>> label_information(torch.ones(80, 1), apart[:, 0] == 1)
    0.0
    """
    from sklearn.decomposition import PCA  # takes a second to import
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = min(FOLDS, int(is_forgotten.sum()), int((~is_forgotten).sum()))
    if folds < 2:
        return 0.0
    x, y = features.flatten(1).double().numpy(), is_forgotten.long().numpy()
    steps = [StandardScaler()]
    if x.shape[1] > COMPONENTS:
        steps.append(PCA(min(COMPONENTS, len(x) // 2), random_state=seed))
    critic = make_pipeline(*steps, LogisticRegression(class_weight="balanced", max_iter=300))
    scores = cross_val_score(critic, x, y, cv=folds, scoring="neg_log_loss")
    return float(max(0.0, log(2) + scores.mean()))


def information_difference(
    unlearned: Sequence[float], retrained: Sequence[float], original: Sequence[float]
) -> float | None:
    """IDI = Σ_ℓ max(0, I_u − I_r) / Σ_ℓ max(0, I_o − I_r): 0 as retrained, 1 as the original; None if these are alike.

    >>> information_difference([0.1, 0.4], [0.1, 0.2], [0.1, 0.6])
    0.5
    """
    left = sum(max(0.0, own - reference) for own, reference in zip(unlearned, retrained, strict=True))
    whole = sum(max(0.0, before - reference) for before, reference in zip(original, retrained, strict=True))
    return round(left / whole, 12) if whole > LEAST else None
