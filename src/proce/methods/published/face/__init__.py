"""FACE: paths through dense regions."""
