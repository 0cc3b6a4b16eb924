"""ProCE, the explainer that people call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from proce.arguments import checked
from proce.errors import PersistenceError
from proce.explanation import Explanations
from proce.methods.calls.call import refuse_contradiction
from proce.methods.calls.estimator import Estimator, changed_parameters, require_fit
from proce.methods.calls.explain_options import Pick, check_callback, checked_texts
from proce.methods.calls.method import ProgressCallback, closing
from proce.methods.calls.options import Options
from proce.methods.fitting.fit import checked_class_labels, fit_parts, with_graph
from proce.methods.fitting.fitted import FittedParts, in_mode, other_models
from proce.methods.fitting.settings import SearchSettings
from proce.methods.pipeline import ProceCall
from proce.methods.what_if import WhatIf, what_if
from proce.schema import Level, Rule, Schema
from proce.schema.codec import with_scales

_WITHOUT_FIT = ("causal", "classes", "models", "rules")  # parameters that may be set after a fit


class ProCE(Estimator):
    """Counterfactual explanations that flip the decision, stay near, look real and respect causes.

    Parameters
    ----------
    model
        The model that is explained: a scikit-learn, XGBoost, LightGBM or CatBoost classifier or
        pipeline, a ``torch.nn.Module``, an ONNX file, or any function from a frame to
        probabilities. The model is never modified.
    schema
        The features and what may move; inferred from the frame where it is ``None``.
    graph
        What causes what: ``None``, ``"discover"``, a ``CausalGraph``, edges
        ``(cause, effect)``, a ``networkx.DiGraph``, or a ``StructuralCausalModel``.
    rules
        The rules that every counterfactual must obey, such as ``"cf.age >= x.age"``.
    causal
        How strictly causes are taken. ``hard``: a counterfactual is a set of actions, and all else
        follows from them. ``soft``: any row, but what does not follow from its causes costs.
        ``paper``: Eqs. 8-9 as printed. ``off``: causes are ignored. ``auto``: ``hard`` where the
        graph was given, ``soft`` where it was discovered, ``off`` without a graph.
    settings
        The settings of the search; ``None`` for the defaults.
    threshold
        The decision threshold of a binary model; by default the model's own rule.
    seed
        The seed of everything random. The same seed gives the same answer for a row, whatever else
        is in the batch.
    device
        Where networks learn, such as the auto-encoder: ``"cpu"`` or ``"cuda"``. Searches run on the
        CPU; a torch module is asked where its own weights are.
    classes
        The names of the model's classes for people, such as ``{0: "rejected", 1: "approved"}``; a
        class without one is told as it is.
    models
        The ``models`` of every call that names none of its own; see :meth:`explain`.
    """

    def __init__(
        self,
        model: Any,
        schema: Schema | None = None,
        graph: Any = None,
        rules: Sequence[str] = (),
        causal: str = "auto",
        settings: SearchSettings | None = None,
        threshold: float | None = None,
        seed: int = 0,
        device: str = "cpu",
        classes: Mapping[Any, str] | None = None,
        models: Any = None,
    ) -> None:
        self.model = model
        self.schema = schema
        self.graph = graph
        self.rules = rules
        self.causal = causal
        self.settings = settings
        self.threshold = threshold
        self.seed = seed
        self.device = device
        self.classes = classes
        self.models = models

    def fit(self, X: Any, y: Any = None, *, progress: ProgressCallback | None = None) -> Self:
        """Learn the latent space, the equations and the prototypes.

        Parameters
        ----------
        X
            The rows that the model was trained on, as a frame.
        y
            The label of each row, by position. It is needed only to fit the model again, for
            ``robust``.
        progress
            A function that is called with a ``Progress`` while the auto-encoder learns.
        """
        check_callback(progress)
        with closing(progress):
            fitted = fit_parts(
                self.model,
                X,
                schema=self.schema,
                graph=self.graph,
                rules=self.rules,
                causal=self.causal,
                settings=SearchSettings() if self.settings is None else self.settings,
                threshold=self.threshold,
                seed=self.seed,
                device=self.device,
                progress=progress,
                classes=self.classes,
                label=y,
            )
        self._set_fitted(fitted)
        return self

    def explain(
        self,
        X: Any,
        *,
        target: Level | None = None,
        n: int = 4,
        pick: Pick = "closest",
        vary: Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
        max_changes: int | None = None,
        effort: Mapping[str, float] | None = None,
        min_probability: float | None = None,
        rules: Sequence[str] = (),
        max_evaluations: int | None = None,
        budget_seconds: float | None = None,
        progress: ProgressCallback | None = None,
        keep_front: bool | None = None,
        causal: str | None = None,
        robust: float | None = None,
        models: Any = None,
    ) -> Explanations:
        """Return up to ``n`` counterfactuals for each row; every one is checked on the model.

        Parameters
        ----------
        X
            A frame of one or many rows.
        target
            The wanted class; by default the other class of a binary model.
        n
            The most counterfactuals of a row.
        pick
            Which counterfactual is recommended: the ``closest``, a ``balanced`` one that does well
            in all three losses, the most ``typical`` one of the target class that is at most four
            times as far as the closest, or the ``first`` of the last population, as in the paper.
            What is typical is learned when it is first asked for, which takes some seconds.
        vary
            The features that may be acted on; by default all that may move. Others may still follow
            from them.
        ranges
            ``{name: (low, high)}``, limits of the final values, in raw units.
        max_changes
            The most actions and holds of a counterfactual.
        effort
            ``{name: 0.1 .. 10}``, how hard a change is for this person; replaces the schema's.
        min_probability
            The least probability of the target; by default the decision threshold plus the margin
            of the settings.
        rules
            Further rules, such as 'cf.age >= x.age', for this call.
        max_evaluations
            The most candidates that a search evaluates for each row. Where the margin cannot be
            had, there is a second search without it.
        budget_seconds
            The time after which the call ends. Counterfactuals that were found by then are
            returned, and the rows whose search was not finished are marked.
        progress
            A function that is called with a ``Progress``; the call ends where it returns False.
        keep_front
            Whether to keep whole Pareto fronts; by default for up to 1,000 rows.
        causal
            How strictly causes are taken in this call, as in the constructor; by default as there.
        robust
            The share of other models, such as 0.95, under which a counterfactual keeps its class.
            Where no candidate does, the most robust one is returned and marked, or none.
        models
            Those other models: a list of fitted ones, or how many times the explainer's own
            scikit-learn estimator is fitted again on resampled rows (labels then given to ``fit``;
            20 times where nothing else is said). Without ``robust`` they are counted only.
        """
        options = Options(
            target=target,
            n=n,
            pick=pick,
            vary=vary,
            ranges=ranges,
            max_changes=max_changes,
            effort=effort,
            min_probability=min_probability,
            rules=rules,
            max_evaluations=max_evaluations,
            budget_seconds=budget_seconds,
            keep_front=keep_front,
            causal=causal,
            robust=robust,
            models=self.models if models is None else models,
        )
        check_callback(progress)
        with closing(progress):
            fitted = self._in_mode(causal)
            wanted = robust is not None
            others = other_models(fitted, options.models, self.threshold, robust=wanted)
            return ProceCall(fitted, options, X, progress, others).run()

    def what_if(self, row: Any, changes: Mapping[str, Any]) -> WhatIf:
        """Return what would follow from setting some features of a row, and the new decision.

        What the rules or the schema forbid is asked about all the same, and named in ``broken``.

        Parameters
        ----------
        row
            A frame of one row.
        changes
            The new values by feature, in raw units.
        """
        return what_if(self._fitted(), row, changes)

    def with_graph(self, graph: Any, causal: str | None = None) -> Self:
        """Return a fitted explainer with another graph that answers as if it was fitted with it.

        The equations and their refits are fitted on the same training rows; all else, the latent
        space above all, is shared. This explainer stays as it is.

        Parameters
        ----------
        graph
            What causes what, as for the constructor.
        causal
            How strictly causes are taken, as for the constructor; by default as in this explainer.
        """
        fitted = self._fitted()
        causal = self.causal if causal is None else causal
        parts = with_graph(fitted, graph, causal, self.rules)
        return self._sharing(parts, graph=graph, causal=causal)

    def with_rules(self, rules: Sequence[str]) -> Self:
        """Return a fitted explainer with other rules that answers as if it was fitted with them.

        Everything else is shared, and this explainer stays as it is.

        Parameters
        ----------
        rules
            The rules that every counterfactual must obey, as for the constructor; they take the
            place of those of this explainer.
        """
        fitted, before = self._fitted(), self.get_params(deep=False)
        parts = _with_parameters(fitted, before, {**before, "rules": rules})
        return self._sharing(parts, rules=rules)

    @checked(PersistenceError)
    def save(self, folder: str | Path, rows: bool = True, model: bool = True) -> Path:
        """Write the fitted explainer to a folder, whole or not at all.

        The folder holds latents of the training rows, and by default the rows: treat it as
        personal data. Functions, XGBoost, LightGBM and CatBoost models are not saved but handed
        over at loading; of a torch module the weights are.

        Parameters
        ----------
        folder
            A new folder, or one to which an explainer was saved before.
        rows
            Whether to keep the training rows. Without them a loaded explainer starts its searches
            from noise alone, and fits nothing anew.
        model
            Whether to keep the model, where that is possible.

        Returns
        -------
        Path
            The folder.
        """
        from proce.methods.saving.explainer import save_explainer

        parameters = self.get_params(deep=False)
        return save_explainer(self._fitted(), parameters, folder, rows=rows, model=model)

    @classmethod
    @checked(PersistenceError)
    def load(
        cls,
        folder: str | Path,
        model: Any = None,
        equations: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the explainer that was saved to a folder; it gives the same answers.

        Parameters
        ----------
        folder
            The folder that ``save`` wrote.
        model
            The model, where the folder does not hold it. For a torch module it may also be a
            function without arguments that makes one, into which the saved weights are put. A model
            that answers otherwise than the saved one is refused.
        equations
            The equations of the causal model that were given as functions, by feature.
        """
        from proce.methods.saving.explainer import load_explainer

        parameters, fitted = load_explainer(folder, model, equations)
        explainer = cls(**parameters)
        explainer._set_fitted(fitted)
        return explainer

    def _set_fitted(self, fitted: FittedParts) -> None:
        """Keep the fitted or loaded parts, and set the attributes that scikit-learn expects."""
        self.fitted_ = fitted
        self._note_fit(fitted.codec, fitted.classifier)
        self._by_mode: dict[str, tuple[FittedParts, FittedParts]] = {}  # of a call, by its mode
        self.schema_ = with_scales(fitted.codec)  # print it: where a search looks, and the scale

    def _fitted(self) -> FittedParts:
        """Return the fitted parts under the parameters of today, or say that they need a fit."""
        self._require_fitted()
        before = self._parameters
        now = {name: getattr(self, name) for name in before}
        if changed_parameters(before, now):
            self._set_fitted(_with_parameters(self.fitted_, before, now))
        fitted: FittedParts = self.fitted_
        return fitted

    def _in_mode(self, causal: str | None) -> FittedParts:
        """Return the fitted parts in the causal mode of a call, which is kept for the next one."""
        fitted = self._fitted()
        if causal is None:
            return fitted
        if causal not in self._by_mode or self._by_mode[causal][0] is not fitted:
            self._by_mode[causal] = fitted, in_mode(fitted, causal)
        return self._by_mode[causal][1]

    def _sharing(self, fitted: FittedParts, **changed: Any) -> Self:
        """Return another explainer around fitted parts, with some parameters of its own."""
        explainer = type(self)(**{**self.get_params(deep=False), **changed})
        explainer._set_fitted(fitted)
        return explainer


def _with_parameters(
    fitted: FittedParts, before: Mapping[str, Any], now: Mapping[str, Any]
) -> FittedParts:
    """Return the fitted parts under the parameters that an explainer has now."""
    changed = changed_parameters(before, now)
    require_fit("ProCE", [name for name in changed if name not in _WITHOUT_FIT])
    if "rules" in changed:
        fitted = _with_rules(fitted, now["rules"], before)
    if "classes" in changed:
        labels = checked_class_labels(now["classes"], fitted.classifier.classes)
        fitted = replace(fitted, class_labels=labels)
    if "causal" in changed:
        fitted = in_mode(fitted, now["causal"])
    return fitted


def _with_rules(fitted: FittedParts, rules: Any, before: Mapping[str, Any]) -> FittedParts:
    """Return the fitted parts with other rules.

    A rule may need an equation of the graph where the mode does not, and has not kept it.
    """
    texts = checked_texts("rules", rules)
    needs_equation = any(Rule.parse(text, fitted.codec).dependence for text in texts)
    has_graph = fitted.scm is None and before["graph"] is not None
    if needs_equation and has_graph and fitted.left_out is None:
        return with_graph(fitted, before["graph"], before["causal"], texts)
    bound = fitted.bind(texts)
    refuse_contradiction(bound, fitted.rows)
    return replace(fitted, rules=bound)
