"""Which class was erased? What the head and the predictions give away without a single forgotten image."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unclass.metrics.population import auc
from unclass.predictions import Predictions


def rank_from_below(values: Tensor, classes: Sequence[int]) -> int:
    """Return the best place of the classes when all are sorted from the lowest value up; 1 = the lowest of all."""
    return 1 + min(int((values < values[index]).sum()) for index in classes)


def own_logits(predictions: Predictions, classes: Sequence[int]) -> Tensor:
    """z_t − mean over k ∉ forgotten of z_k, the largest over forgotten t. A constant added to z_t changes no order."""
    logits = predictions.logits.double()
    chosen = torch.tensor(list(classes))
    others = torch.ones(logits.shape[1], dtype=torch.bool).index_fill(0, chosen, False)
    raised = logits[:, chosen] - logits[:, chosen].mean(dim=0)
    return raised.max(dim=1).values - logits[:, others].mean(dim=1)


def own_logit_auc(retain_test: Predictions, forget_test: Predictions, classes: Sequence[int]) -> float:
    """Probability that a D_ft image has more of the forgotten class's own logit than a D_rt image, in [0, 1].

    A class that a constant hides is still told as well as before: subtracting any number leaves this AUC as it is.
    """
    together = Predictions(
        torch.cat([forget_test.logits, retain_test.logits]), torch.cat([forget_test.labels, retain_test.labels])
    )
    scores = own_logits(together, classes)
    return auc(scores[: len(forget_test)], scores[len(forget_test) :])
