"""Who works here, for records that say who did something."""

import getpass
import os


def whoever() -> str:
    """Return who works here, where nobody says: UNCLASS_OPERATOR, or the name of the account."""
    try:
        return os.environ.get("UNCLASS_OPERATOR") or getpass.getuser()
    except (KeyError, OSError):  # a container without a user table
        return "unknown"
