"""The commands beside runs: one module each."""
