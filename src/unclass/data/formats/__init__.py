"""Your own pictures: folders, tables, saved Hugging Face data sets, shards."""
