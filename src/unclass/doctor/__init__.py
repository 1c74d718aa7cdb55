"""Checks before a long run: does the model fit the data, is it normalised as in training, what will the run take?"""

from unclass.doctor.check_up import check_up, doctor
from unclass.doctor.finding import SIGNS, Finding, worst
from unclass.doctor.intent import Intent
from unclass.doctor.opening import opened

__all__ = ["SIGNS", "Finding", "Intent", "check_up", "doctor", "opened", "worst"]
