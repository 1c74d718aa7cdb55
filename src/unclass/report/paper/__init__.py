"""The paper's tables, figures and page."""
