"""Knowledge-selection simulation (paper 003)."""
