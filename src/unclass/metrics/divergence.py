"""How far two models' outputs are from each other, on the same images."""

import torch
from torch import Tensor

from unclass.predictions import Outputs, as_predictions


def js_divergence(one: Outputs, other: Outputs) -> float:
    """Mean over images of JS(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m), m = ½ (p + q), natural logarithm: in [0, ln 2].

    >>> round(js_divergence(torch.tensor([[100.0, 0.0]]), torch.tensor([[0.0, 100.0]])), 4)
    0.6931
    """
    one, other = as_predictions(one), as_predictions(other)
    return js_each(one.logits.double().softmax(dim=1), other.logits.double().softmax(dim=1)).mean().item()


def js_each(p: Tensor, q: Tensor) -> Tensor:
    """JS(p, q) = H(m) − ½ H(p) − ½ H(q) of each row.

    >>> p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]])
    >>> round(js_each(p, q).item(), 4)
    0.2158
    """
    between = torch.special.entr((p + q) / 2) - (torch.special.entr(p) + torch.special.entr(q)) / 2
    total: Tensor = between.sum(dim=1)
    return total.clamp_min(0)


def activation_distance(one: Outputs, other: Outputs) -> float:
    """E‖p − q‖₂ of the probabilities (Golatkar et al. 2021), in [0, √2].

    >>> round(activation_distance(torch.tensor([[100.0, 0.0]]), torch.tensor([[0.0, 100.0]])), 4)
    1.4142
    """
    one, other = as_predictions(one), as_predictions(other)
    return float((one.probabilities - other.probabilities).norm(dim=1).mean())


def label_shares(outputs: Outputs) -> Tensor:
    """s_k = 1/N #{i : argmax zᵢ = k}: share of the images that are predicted as each of the K classes.

    >>> label_shares(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0], [3.0, 0.0, 0.0]])).tolist()
    [0.75, 0.25, 0.0]
    """
    predictions = as_predictions(outputs)
    count = predictions.logits.shape[1]
    return torch.bincount(predictions.classes, minlength=count).double() / len(predictions)


def total_variation(one: Outputs, other: Outputs) -> float:
    """½ Σ_k |s_k − s′_k| between the histograms of predicted labels, in [0, 1].

    >>> total_variation(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    return (label_shares(one) - label_shares(other)).abs().sum().item() / 2


def agreement(one: Outputs, other: Outputs) -> float:
    """1/N #{i : argmax zᵢ = argmax z′ᵢ}: share of images with the same predicted class, in [0, 1].

    >>> agreement(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    one, other = as_predictions(one), as_predictions(other)
    return (one.classes == other.classes).double().mean().item()


def entropy_distance(one: Outputs, other: Outputs) -> float:
    """Wasserstein-1 distance ∫ |F(h) − G(h)| dh between the distributions of output entropies, in nats.

    >>> round(entropy_distance(torch.tensor([[0.0, 0.0]]), torch.tensor([[100.0, 0.0]])), 4)
    0.6931
    """
    from scipy.stats import wasserstein_distance  # only where it is used

    entropies = [as_predictions(outputs).entropy.numpy() for outputs in (one, other)]
    return float(wasserstein_distance(*entropies))


def zero_retrain_forgetting(unlearned: Outputs, random: Outputs) -> float:
    """ZRF = 1 − E JS(p_u, p_random), JS in bits, `random` an untrained network's (Chundawat et al. 2023): in [0, 1].

    >>> zero_retrain_forgetting(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 2.0]]))
    1.0
    """
    return 1 - js_divergence(unlearned, random) / torch.tensor(2.0, dtype=torch.double).log().item()
