"""Neighbour-class attack: do the probabilities of the nearest classes tell D_f from images never seen?"""

import torch

from unclass.metrics.population import auc
from unclass.predictions import Predictions

NEAREST, FOLDS, DRAWN = 3, 4, 1000


def neighbour_attack(forget: Predictions, forget_test: Predictions, nearest: list[int]) -> float | None:
    """|AUC − ½| of logistic regression on the log-probabilities of the nearest classes, members D_f, others D_ft.

    Judged on images that it was not fitted on; None where there are too few.
    """
    from sklearn.linear_model import LogisticRegression  # takes a second to import
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    sets = [one.logits[:DRAWN].double().log_softmax(dim=1)[:, nearest[:NEAREST]] for one in (forget, forget_test)]
    if min(map(len, sets)) < FOLDS:
        return None
    member = torch.cat([torch.ones(len(sets[0])), torch.zeros(len(sets[1]))]).bool()
    attack = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=300))
    x = torch.cat(sets).clamp_min(-100).numpy()
    scores = torch.from_numpy(cross_val_predict(attack, x, member.numpy(), cv=FOLDS, method="decision_function"))
    return abs(auc(scores[member], scores[~member]) - 0.5)
