"""Erasure requests as a practice: a ledger of models and requests, erasures as one unit, and their evidence."""
