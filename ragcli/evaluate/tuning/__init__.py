"""Parameters fitted on questions with known answers, and whether the fit holds on others."""
