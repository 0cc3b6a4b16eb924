"""ProCE, and what every method offers."""

from proce.methods.bar import progress_bar
from proce.methods.method import Method, Progress
from proce.methods.proce import ProCE
from proce.methods.settings import SearchSettings
from proce.methods.what_if import WhatIf

__all__ = ["Method", "ProCE", "Progress", "SearchSettings", "WhatIf", "progress_bar"]
