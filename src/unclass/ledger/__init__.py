"""A ledger of models, erasure requests and what became of them, and the evidence of it."""
