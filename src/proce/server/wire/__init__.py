"""What goes over the wire: the models of every request and answer, strict and with examples."""
