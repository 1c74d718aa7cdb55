"""How far two models' outputs are from each other, on the same images."""

import torch
from torch import Tensor

from unclass.predictions import Predictions


def js_divergence(one: Predictions, other: Predictions) -> float:
    """Mean over images of JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m), m = ½ (p + q), natural logarithm: in [0, ln 2]."""
    return js_each(one.logits.double().softmax(dim=1), other.logits.double().softmax(dim=1)).mean().item()


def js_each(p: Tensor, q: Tensor) -> Tensor:
    """JS(p, q) = H(m) − ½ H(p) − ½ H(q) of each row."""
    between = torch.special.entr((p + q) / 2) - (torch.special.entr(p) + torch.special.entr(q)) / 2
    total: Tensor = between.sum(dim=1)
    return total.clamp_min(0)


def activation_distance(one: Predictions, other: Predictions) -> float:
    """E‖p − q‖₂ (Golatkar et al. 2021), in [0, √2]."""
    return float((one.probabilities - other.probabilities).norm(dim=1).mean())


def label_shares(predictions: Predictions) -> Tensor:
    """Share of the images that are predicted as each of the K classes."""
    count = predictions.logits.shape[1]
    return torch.bincount(predictions.classes, minlength=count).double() / len(predictions)


def total_variation(one: Predictions, other: Predictions) -> float:
    """½ Σ_k |share_k − share′_k| between the histograms of predicted labels, in [0, 1]."""
    return (label_shares(one) - label_shares(other)).abs().sum().item() / 2


def agreement(one: Predictions, other: Predictions) -> float:
    """Share of images with the same predicted class, in [0, 1]."""
    return (one.classes == other.classes).double().mean().item()


def entropy_distance(one: Predictions, other: Predictions) -> float:
    """Wasserstein-1 distance ∫ |F(h) − G(h)| dh between the distributions of output entropies, in nats."""
    from scipy.stats import wasserstein_distance  # only where it is used

    return float(wasserstein_distance(one.entropy.numpy(), other.entropy.numpy()))


def zero_retrain_forgetting(unlearned: Predictions, random: Predictions) -> float:
    """ZRF = 1 − E JS(p_u, p_random), JS in bits, `random` an untrained network's (Chundawat et al. 2023): in [0, 1]."""
    return 1 - js_divergence(unlearned, random) / torch.tensor(2.0, dtype=torch.double).log().item()
