"""Many rows: files read in chunks, explained one after the other, written as they come."""
