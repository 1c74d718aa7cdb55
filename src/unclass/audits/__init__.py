"""The audit of an unlearned model: checks that can fail, a verdict, and a self-check."""

from unclass.audits.result import Audit, Check, Control, Verdict
from unclass.audits.run import audit, name_roles
from unclass.audits.shadow import Shadows, train_shadows

__all__ = ["Audit", "Check", "Control", "Shadows", "Verdict", "audit", "name_roles", "train_shadows"]
