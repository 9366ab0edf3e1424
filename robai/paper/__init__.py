"""The experiments of the paper: as data, played, checked and shown."""
