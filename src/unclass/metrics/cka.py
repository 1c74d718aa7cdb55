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


def debiased_cka(one: Tensor, other: Tensor) -> float:
    """HSIC₁(X, Y) / √(HSIC₁(X, X) HSIC₁(Y, Y)): linear CKA without its bias where features outnumber images.

    HSIC₁ is the unbiased estimate of Song et al. 2012, Eq. 5, of the Gram matrices K = XXᵀ and L = YYᵀ with empty
    diagonals: (tr KL + 1ᵀK1 1ᵀL1 / (n − 1)(n − 2) − 2 1ᵀKL1 / (n − 2)) / n(n − 3). Needs four images; features that
    have nothing in common have 0 on average, the same ones 1.

    >>> import torch
    >>> x, y = torch.randn(2, 200, 900, generator=torch.Generator().manual_seed(0))
    >>> round(debiased_cka(x, 2 * x), 6), abs(debiased_cka(x, y)) < 0.05, linear_cka(x, y) > 0.7
    (1.0, True, True)
    """
    return debiased_cka_of(gram(one), gram(other))


def gram(features: Tensor) -> Tensor:
    """XXᵀ of centred features, in 64 bits.

    >>> import torch
    >>> gram(torch.tensor([[1.0], [3.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    centred = _centred(features)
    return centred @ centred.T


def debiased_cka_of(one: Tensor, other: Tensor) -> float:
    """`debiased_cka` of two Gram matrices.

    >>> import torch
    >>> kernel = gram(torch.arange(5.0)[:, None])
    >>> round(debiased_cka_of(kernel, kernel), 6)
    1.0
    """
    k, m = (_without_diagonal(matrix) for matrix in (one, other))
    own = _hsic(k, k) * _hsic(m, m)
    return _hsic(k, m) / own**0.5 if own > 0 else float("nan")


def _without_diagonal(matrix: Tensor) -> Tensor:
    return matrix - matrix.diag().diag()


def _hsic(k: Tensor, m: Tensor) -> float:
    n = len(k)
    ends = k.sum() * m.sum() / ((n - 1) * (n - 2)) - 2 * (k.sum(dim=0) @ m.sum(dim=0)) / (n - 2)
    return float(((k * m).sum() + ends) / (n * (n - 3)))


def _centred(features: Tensor) -> Tensor:
    features = features.flatten(1).double()
    return features - features.mean(dim=0)
