"""Random and damaged input for everything that reads texts and files of other people."""
