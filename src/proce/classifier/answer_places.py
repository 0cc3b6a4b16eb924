"""What a place in the table of answers holds; from 0 on, the number of a question that is open."""

EMPTY = -2
ANSWERED = -1
