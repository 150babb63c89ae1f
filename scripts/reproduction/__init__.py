# SPDX-License-Identifier: Apache-2.0
"""What scripts/reproduce is made of: experiments, what the papers print, verdicts, the document and its figures."""


class Error(Exception):
    """Something that the user can change: what was found, what was expected, what to do."""


class WrongUsage(Error):
    """The same of the options."""
