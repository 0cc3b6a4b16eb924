"""Features as a person declares them: kinds, actions, levels, names and units."""
