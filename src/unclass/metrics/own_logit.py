"""Which class was erased? What the head and the predictions give away without a single forgotten image."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unclass.metrics.population import auc
from unclass.predictions import Outputs, Predictions, as_predictions


def rank_from_below(values: Tensor, classes: Sequence[int]) -> int:
    """1 + min over t of #{k : v_k < v_t}: the best place of the classes, sorted from below; 1 = the lowest of all.

    >>> rank_from_below(torch.tensor([0.3, -1.0, 0.2, 0.9]), [2])
    2
    """
    return 1 + min(int((values < values[index]).sum()) for index in classes)


def own_logits(outputs: Outputs, classes: Sequence[int]) -> Tensor:
    """z_t − mean over k ∉ forgotten of z_k, the largest over forgotten t. A constant added to z_t changes no order.

    >>> own_logits(torch.tensor([[5.0, 1.0, 1.0], [1.0, 2.0, 0.0]]), [0]).tolist()
    [1.0, -3.0]
    """
    predictions = as_predictions(outputs)
    logits = predictions.logits.double()
    chosen = torch.tensor(list(classes))
    others = torch.ones(logits.shape[1], dtype=torch.bool).index_fill(0, chosen, False)
    raised = logits[:, chosen] - logits[:, chosen].mean(dim=0)
    return raised.max(dim=1).values - logits[:, others].mean(dim=1)


def own_logit_auc(retain_test: Outputs, forget_test: Outputs, classes: Sequence[int]) -> float:
    """AUC of `own_logits`, D_ft against D_rt: chance that an image of the forgotten class has more of its logit.

    A class that a constant hides is still told as well as before: subtracting any number leaves this AUC as it is.

    >>> own_logit_auc(torch.tensor([[0.0, 3.0], [1.0, 2.0]]), torch.tensor([[2.0, 0.0], [0.5, 1.0]]), [0])
    1.0
    """
    return auc(*own_logit_scores(retain_test, forget_test, classes))


def own_logit_scores(retain_test: Outputs, forget_test: Outputs, classes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the `own_logits` of D_ft and of D_rt, on one scale.

    >>> logits = torch.tensor([[0.0, 3.0]]), torch.tensor([[2.0, 0.0]])
    >>> [scores.tolist() for scores in own_logit_scores(*logits, [0])]
    [[1.0], [-4.0]]
    """
    retain_test, forget_test = as_predictions(retain_test), as_predictions(forget_test)
    together = Predictions(
        torch.cat([forget_test.logits, retain_test.logits]), torch.cat([forget_test.labels, retain_test.labels])
    )
    scores = own_logits(together, classes)
    return scores[: len(forget_test)], scores[len(forget_test) :]
