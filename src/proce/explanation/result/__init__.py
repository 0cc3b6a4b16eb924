"""The classes that people hold: records with verbs."""
