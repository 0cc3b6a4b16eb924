"""How often a row is searched before it counts as not found.

A row for which nothing is found is searched again under easier terms: with the limit on changes
known to the search, without the margin, and over all that was seen in training rather than over the
bulk of it. Each search goes on from where the one before ended, and their number is the bound. A
row whose advice is not sure to work is searched a second time at once, for advice that is.
"""

from dataclasses import dataclass, replace

from proce.methods.fitting.settings import SearchSettings
from proce.objective import CallLimits, CounterfactualProblem, Start

_N_SEEDS = 4  # of the attempts at a row that do not ask for more certainty


@dataclass(frozen=True)
class Attempt:
    """One search of a row.

    Attributes
    ----------
    number
        How many attempts were made before; each draws random numbers of its own.
    limited
        Whether the search knows the limit on changes. One that does not keeps what obeys the limit
        of all that it finds.
    with_margin
        Whether the target must be passed by the margin.
    anywhere
        Whether actions may lead to all that was seen in training, not only to where most people
        are.
    surely
        Whether what is found must be sure to work in the possible worlds of the problem's doubts.
    """

    number: int = 0
    limited: bool = False
    with_margin: bool = True
    anywhere: bool = False
    surely: bool = False

    def for_surer(self) -> "Attempt":
        """Return a second attempt under the same terms, for advice that is sure to work.

        The way that is sure may lead elsewhere, so that the search starts anywhere.
        """
        return replace(self, number=self.number + _N_SEEDS, surely=True)

    def start(self, usual: Start) -> Start:
        """Return where the search of this attempt starts, given where searches start.

        Where nothing was found near the row, the ways that there are may be far from it, and what
        is lacking may lead away from them.
        """
        if usual == "gaussian":
            return usual
        return "anywhere" if self.surely or not self.with_margin else usual

    def improved(self, problem: CounterfactualProblem) -> CounterfactualProblem:
        """Return the problem in which candidates are improved: with doubts where it must."""
        return problem if self.surely else problem.with_doubts_asked_for()

    def searched(self, problem: CounterfactualProblem) -> CounterfactualProblem:
        """Return the problem that is searched: doubts are dear, and few rows need them."""
        return problem.with_few_worlds() if self.surely else problem.without_doubts()

    def settings(self, settings: SearchSettings) -> SearchSettings:
        """Return the settings of the search: every further attempt is shorter.

        One that knows the limit on changes has few ways left to look at, and one for surer advice
        is dear: it tries every candidate in many worlds.
        """
        if self.number == 0:
            return settings
        n_generations = settings.n_generations // (4 if self.limited or self.surely else 2)
        return replace(settings, n_generations=max(1, n_generations))

    def problem(self, problem: CounterfactualProblem, limits: CallLimits) -> CounterfactualProblem:
        """Return the problem of this attempt at the rows of a problem with the limits of a call."""
        if not self.with_margin:
            problem = replace(problem, requirement=problem.requirement.without_margin())
        if self.anywhere:
            wider = limits.widened().of_rows(problem.codec, problem.query.factual)
            problem = replace(problem, limits=wider)
        return problem


FIRST = Attempt()


def plan_attempts(problem: CounterfactualProblem, *, goes_on: bool) -> list[Attempt]:
    """Return the attempts at the rows of a problem, in their order.

    Parameters
    ----------
    problem
        The problem as the call poses it.
    goes_on
        Whether the search goes on by itself. Where a caller counts the model's answers, or wants
        the algorithm as printed, the margin is given up and nothing else.
    """
    limited, has_margin = problem.max_changes is not None, problem.requirement.margin > 0
    if problem.clock.names:  # who waits has tried all else before
        attempts = [Attempt(1, limited)]
        return [*attempts, Attempt(2, limited, with_margin=False)] if has_margin else attempts
    attempts = [Attempt(limited=limited and not goes_on)]
    if limited and goes_on:
        attempts.append(Attempt(len(attempts), limited))
    if has_margin:
        attempts.append(Attempt(len(attempts), limited, with_margin=False))
    if goes_on:
        attempts.append(Attempt(len(attempts), limited, with_margin=False, anywhere=True))
    return attempts
