"""``proce explain``: its options, its job on this machine or on a cluster, and where results go."""
