"""Structure: edges between capsules, observed outcomes, preferences."""
