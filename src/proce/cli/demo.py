"""``proce demo``."""

from numbers import Real

import typer

from proce.cli.console import table, training_bar

WORDS = {
    "free": "can change",
    "increase": "can only rise",
    "decrease": "can only fall",
    "indirect": "follows from others",
    "fixed": "cannot change",
}


def demo() -> None:
    """Train a model on the embedded loan data and show an applicant whom it rejects."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split

    from proce.classifier import fit_network
    from proce.datasets import load_dataset
    from proce.schema import Codec

    data = load_dataset("loan")
    frame, others, label, others_label = train_test_split(
        data.frame, data.label, test_size=0.2, random_state=0
    )
    codec = Codec.fit(data.recourse_schema, frame)
    with training_bar("training") as progress:
        model = fit_network(codec, frame, label, progress=progress)
    chances = model.predict_proba(codec.encode(others))[:, 1].numpy()
    applicant = int(((chances > 0.2) & (chances < 0.4)).argmax())
    typer.echo(
        f"A network learned from {len(frame):,} loan applications"
        f" (AUC {roc_auc_score(others_label, chances):.2f} on {len(others):,} others).\n"
        f"It rejects this applicant: {chances[applicant]:.0%} for approval, 50% needed.\n"
    )
    values = others.iloc[applicant]
    schema = data.recourse_schema
    cells = [(name, _shown(values[name]), WORDS[schema[name].action.value]) for name in others]
    typer.echo(table(("feature", "value", ""), cells))


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, Real) else str(value)
