"""The tables of a ledger. Times are UTC in ISO 8601, digests SHA-256 in hexadecimal."""

APPLICATION = 0x756E636C  # "uncl", in the file's header
VERSION = 1

TABLES = """
CREATE TABLE models (
  name TEXT PRIMARY KEY,
  settings TEXT NOT NULL,              -- JSON: data, its options and those of the network
  in_service INTEGER REFERENCES versions (id),
  created TEXT NOT NULL
);
CREATE TABLE versions (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL REFERENCES models (name),
  number INTEGER NOT NULL,
  parent INTEGER REFERENCES versions (id),
  sha256 TEXT NOT NULL,                -- of the file as it is, or of a folder's files and their names
  card_sha256 TEXT NOT NULL,
  card TEXT NOT NULL,                  -- JSON
  ending TEXT NOT NULL,                -- of the file's name; empty for a folder
  source TEXT NOT NULL,                -- where it came from
  operator TEXT NOT NULL,
  created TEXT NOT NULL,
  destroyed TEXT,                      -- when its weights were; what is known of them stays
  UNIQUE (model, number)
);
CREATE INDEX versions_by_content ON versions (sha256);
CREATE TABLE requests (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL REFERENCES models (name),
  received TEXT NOT NULL,
  due TEXT NOT NULL,
  classes TEXT NOT NULL,               -- JSON list; whole classes where there is no list of images
  images TEXT NOT NULL,                -- JSON list of paths or indices
  ground TEXT NOT NULL,
  note TEXT NOT NULL,
  operator TEXT NOT NULL,
  created TEXT NOT NULL,
  withdrawn TEXT
);
CREATE INDEX requests_by_model ON requests (model);
CREATE TABLE answered (                -- which versions have forgotten what a request asks for
  version INTEGER NOT NULL REFERENCES versions (id),
  request TEXT NOT NULL REFERENCES requests (id),
  PRIMARY KEY (version, request)
) WITHOUT ROWID;
CREATE TABLE erasures (
  id INTEGER PRIMARY KEY,
  request TEXT NOT NULL REFERENCES requests (id),
  source INTEGER NOT NULL REFERENCES versions (id),
  result INTEGER REFERENCES versions (id),
  step TEXT NOT NULL,
  settings TEXT NOT NULL,              -- JSON: method, options, seed, how the pack is made
  operator TEXT NOT NULL,
  started TEXT NOT NULL,
  finished TEXT,
  error TEXT NOT NULL DEFAULT '',
  sha256 TEXT                          -- of the unlearned model, once it is made
);
CREATE INDEX erasures_by_request ON erasures (request);
CREATE INDEX erasures_by_source ON erasures (source);
CREATE TABLE audits (
  erasure INTEGER PRIMARY KEY REFERENCES erasures (id),
  sha256 TEXT NOT NULL,
  status TEXT NOT NULL,
  sentence TEXT NOT NULL,
  made TEXT NOT NULL
);
CREATE TABLE packs (
  erasure INTEGER PRIMARY KEY REFERENCES erasures (id),
  name TEXT NOT NULL UNIQUE,
  sha256 TEXT NOT NULL,                -- of the signed envelope, which holds the digest of every other file
  key TEXT NOT NULL,
  made TEXT NOT NULL
);
CREATE TABLE erased_images (
  digest TEXT NOT NULL,
  request TEXT NOT NULL REFERENCES requests (id),
  PRIMARY KEY (digest, request)
) WITHOUT ROWID;
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  operator TEXT NOT NULL,
  what TEXT NOT NULL,
  about TEXT NOT NULL,
  detail TEXT NOT NULL
);
"""
