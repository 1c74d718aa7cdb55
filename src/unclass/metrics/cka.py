"""Linear centred kernel alignment: how alike two layers represent the same images."""

from torch import Tensor


def linear_cka(one: Tensor, other: Tensor) -> float:
    """‖Yᵀ X‖²_F / (‖Xᵀ X‖_F ‖Yᵀ Y‖_F) of centred features, in [0, 1] (Kornblith et al. 2019, Eq. 6).

    Unmoved by rotation and by one scale for all features. Computed through whichever of the two forms is smaller.

    >>> import torch
    >>> features = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    >>> round(linear_cka(features, 3 * features.flip(1)), 6)
    1.0
    >>> round(linear_cka(features, features[:, :1]), 4)
    0.975
    """
    x, y = _centred(one), _centred(other)
    if max(x.shape[1], y.shape[1]) > len(x):
        gram_x, gram_y = x @ x.T, y @ y.T
        shared, own = (gram_x * gram_y).sum(), gram_x.norm() * gram_y.norm()
    else:
        shared, own = (y.T @ x).square().sum(), (x.T @ x).norm() * (y.T @ y).norm()
    return (shared / own).item() if own > 0 else float("nan")


def _centred(features: Tensor) -> Tensor:
    features = features.flatten(1).double()
    return features - features.mean(dim=0)
