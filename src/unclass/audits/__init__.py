"""The audit of an unlearned model: checks that can fail, a verdict, and a self-check."""

from unclass.audits.run import audit, name_roles
from unclass.audits.shadow import Shadows, train_shadows

__all__ = ["Shadows", "audit", "name_roles", "train_shadows"]
