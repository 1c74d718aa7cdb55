"""The paper's membership-inference attack (after Shokri et al. 2017), on predictions."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unclass.predictions import Outputs, Predictions, as_predictions

LARGEST_SAMPLE = 2500


def attack_success_rate(retain: Outputs, retain_test: Outputs, forget: Outputs, seed: int = 0) -> float:
    """1/|D_f| Σ [A(x) = member]: share of D_f that an attack model A takes for training images, in [0, 1].

    The attack model learns on the unlearned model's own outputs: members are a sample of D_r, non-members as many of
    D_rt, both balanced by class. Chen et al. 2023, Section 5.1, which leaves the attack model open: here logistic
    regression on sorted probabilities and entropy. The ideal is the retrained model's own rate, not 0.

    >>> sure, unsure = torch.tensor([[6.0, 0.0]] * 8), torch.tensor([[0.2, 0.0]] * 8)
    >>> labels = torch.zeros(8, dtype=torch.long)
    >>> attack_success_rate((sure, labels), (unsure, labels), (sure, labels))
    1.0
    >>> attack_success_rate((sure, labels), (unsure, labels), (unsure, labels))
    0.0
    """
    retain, retain_test, forget = map(as_predictions, (retain, retain_test, forget))
    from sklearn.linear_model import LogisticRegression  # takes a second to import: only where it is used
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    generator = torch.Generator().manual_seed(seed)
    size = min(LARGEST_SAMPLE, len(retain), len(retain_test))
    members = retain.select(balanced_sample(retain.labels, size, generator))
    others = retain_test.select(balanced_sample(retain_test.labels, size, generator))
    x = np.concatenate([features(members), features(others)])
    y = np.repeat([1, 0], [len(members), len(others)])
    attack = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    attack.fit(x, y)
    return float(attack.predict(features(forget)).mean())


def features(predictions: Predictions) -> NDArray[np.float64]:
    """What the attacker looks at: probabilities in descending order, and their entropy."""
    ordered = predictions.probabilities.sort(dim=1, descending=True).values
    return torch.cat([ordered, predictions.entropy[:, None]], dim=1).double().numpy()


def balanced_sample(labels: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """Draw about `size` places, as evenly over the classes as there are images.

    >>> rows = balanced_sample(torch.tensor([0, 0, 0, 0, 1, 1]), 4, torch.Generator().manual_seed(0))
    >>> torch.tensor([0, 0, 0, 0, 1, 1])[rows].bincount().tolist()
    [2, 2]
    """
    order = torch.randperm(len(labels), generator=generator)
    shuffled = labels[order]
    rank = torch.zeros(len(labels), dtype=torch.long)
    for label in labels.unique():
        mask = shuffled == label
        rank[mask] = torch.arange(int(mask.sum()))
    return order[rank.argsort(stable=True)[:size]]
