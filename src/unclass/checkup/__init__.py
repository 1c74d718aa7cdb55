"""Checks before a long run: does the model fit the data, is it normalised as in training, what will the run take?"""

from unclass.checkup.check_up import check_up, doctor
from unclass.checkup.finding import SIGNS, Finding, worst
from unclass.checkup.intent import Intent
from unclass.checkup.opening import opened

__all__ = ["SIGNS", "Finding", "Intent", "check_up", "doctor", "opened", "worst"]
