"""The paper's tables and figures: experiments as small files, what they rest on, what came out."""
