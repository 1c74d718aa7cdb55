"""Erasing on request, as one unit: forget, audit, evidence, new version."""
