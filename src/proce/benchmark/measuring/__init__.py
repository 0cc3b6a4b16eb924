"""Run the cells of a plan: worlds, contenders, processes."""
