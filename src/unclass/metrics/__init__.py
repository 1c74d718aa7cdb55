"""Scores computed from predictions alone. Each takes `Predictions`, or logits and labels as plain tensors."""

from unclass.metrics.accuracies import accuracy, confusion
from unclass.metrics.attack_success import attack_success_rate
from unclass.metrics.bootstrap import interval, mean_interval
from unclass.metrics.cka import debiased_cka, linear_cka
from unclass.metrics.delong import auc_deviation, auc_interval
from unclass.metrics.divergence import (
    activation_distance,
    agreement,
    entropy_distance,
    js_divergence,
    label_shares,
    total_variation,
    zero_retrain_forgetting,
)
from unclass.metrics.evaluation import SCORES, Evaluation
from unclass.metrics.information import information_difference, label_information
from unclass.metrics.intervals import mcnemar, paired_interval, wilson_interval
from unclass.metrics.lira import logit_scores, ulira_scores
from unclass.metrics.own_logit import own_logit_auc, own_logits, rank_from_below
from unclass.metrics.population import (
    Roc,
    advantage,
    auc,
    auc_noise,
    membership_scores,
    modified_entropy,
    population_attack,
    roc,
)
from unclass.metrics.rmia import rmia_scores
from unclass.predictions import Predictions

__all__ = [
    "SCORES",
    "Evaluation",
    "Predictions",
    "Roc",
    "accuracy",
    "activation_distance",
    "advantage",
    "agreement",
    "attack_success_rate",
    "auc",
    "auc_deviation",
    "auc_interval",
    "auc_noise",
    "confusion",
    "debiased_cka",
    "entropy_distance",
    "information_difference",
    "interval",
    "js_divergence",
    "label_information",
    "label_shares",
    "linear_cka",
    "logit_scores",
    "mcnemar",
    "mean_interval",
    "membership_scores",
    "modified_entropy",
    "own_logit_auc",
    "own_logits",
    "paired_interval",
    "population_attack",
    "rank_from_below",
    "rmia_scores",
    "roc",
    "total_variation",
    "ulira_scores",
    "wilson_interval",
    "zero_retrain_forgetting",
]
