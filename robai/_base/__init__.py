"""What every layer may use and what knows nothing of bandits: checks, specifications, files, text."""
