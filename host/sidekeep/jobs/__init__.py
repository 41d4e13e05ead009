"""Long work in steps, done by the runner between turns: the bench, and one file a kind of job."""
