"""What a model has forgotten stays forgotten: classes and single images, on its card, and looked at again."""

from unclass.forgotten.classes import KNOWN, check_stays_gone, left_by, remark_on, still_known, what_is_left
from unclass.forgotten.images import CHANCE, ListedImages, Told, remark_on_images, same_shares, told_apart, what_is_told
from unclass.forgotten.marking import mark_forgotten

__all__ = [
    "CHANCE",
    "KNOWN",
    "ListedImages",
    "Told",
    "check_stays_gone",
    "left_by",
    "mark_forgotten",
    "remark_on",
    "remark_on_images",
    "same_shares",
    "still_known",
    "told_apart",
    "what_is_left",
    "what_is_told",
]
