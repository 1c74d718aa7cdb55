"""Options that several commands share, each explained once."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.arguments import weights_of as check_weights
from unclass.border.bounds import MOST_IMAGES_IN_A_BATCH, MOST_SEED
from unclass.cli.plain_options import Classes as Classes
from unclass.cli.plain_options import Force as Force
from unclass.cli.plain_options import Json as Json
from unclass.cli.texts import assignments as assignments
from unclass.cli.texts import floats
from unclass.cli.texts import method_options as method_options
from unclass.cli.texts import model_options as model_options
from unclass.cli.texts import names as names
from unclass.cli.texts import numbers as numbers
from unclass.data import DATA, OWN, DataOptions
from unclass.data.classes import read_class_names
from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.metrics import Evaluation
from unclass.models import MODELS, SPECS, Opening
from unclass.progress import show, silent
from unclass.training.engine import Budget, Engine
from unclass.training.precision import PRECISIONS

DATA_HELP = (
    f"Data set: {', '.join(DATA)}; or your own: {', '.join(OWN)}. "
    "A folder holds train/CLASS/* and test/CLASS/*, or CLASS/*."
)
_DATA, _MODEL, _ENGINE = "Data", "Model", "Computing"

Checkpoint = Annotated[Path | None, typer.Argument(help="Checkpoint of the trained model.", show_default=False)]
Data = Annotated[str, typer.Option("--data", help=DATA_HELP, show_default=False)]
Root = Annotated[Path | None, typer.Option(help="Folder that holds the data set.", rich_help_panel=_DATA)]
Size = Annotated[int | None, typer.Option(help="Scale and crop pictures to this many pixels.", rich_help_panel=_DATA)]
People = Annotated[int, typer.Option(help="How many people of vggface2.", rich_help_panel=_DATA)]
PerClass = Annotated[
    int | None, typer.Option(help="Use at most this many training images of each class.", rich_help_panel=_DATA)
]
Validation = Annotated[
    float,
    typer.Option(
        help="Hold back this share of the training images and judge by them, not by the test images.",
        rich_help_panel=_DATA,
    ),
]
SplitSeed = Annotated[
    int, typer.Option(help="Seed by which people are drawn and test pictures are held out.", rich_help_panel=_DATA)
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip images that cannot be read.", rich_help_panel=_DATA)]
ImageColumn = Annotated[
    str | None, typer.Option(help="Column of a table that names the pictures.", rich_help_panel=_DATA)
]
LabelColumn = Annotated[
    str | None, typer.Option(help="Column of a table that holds the classes.", rich_help_panel=_DATA)
]
ClassNames = Annotated[
    Path | None,
    typer.Option(
        "--classes",
        help="File with the model's class names, one in each line, where it does not name them itself.",
        show_default=False,
        rich_help_panel=_DATA,
    ),
]
Workers = Annotated[
    int, typer.Option(help="Processes that open pictures where they do not all fit into memory.", rich_help_panel=_DATA)
]

ForgetOnly = Annotated[
    bool, typer.Option("--forget-only", help="The data holds nothing but the images to forget; CLASS/*, or one class.")
]
ForgetList = Annotated[
    Path | None,
    typer.Option(help="Forget only the training images named in this file, by path or index.", show_default=False),
]
MethodName = Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")]
PresetName = Annotated[
    str | None, typer.Option("--preset", help="Named options of the method, such as paper or authors.")
]
Set = Annotated[list[str], typer.Option("--set", help="option=value of the method; several times.", show_default=False)]
Export = Annotated[str | None, typer.Option(help="Also write the model in this format, beside the other: onnx.")]
Weights = Annotated[
    Path | None,
    typer.Option(help="Weights for --model: safetensors or torch.save; what comes out has their format and keys."),
]
Model = Annotated[str | None, typer.Option("--model", help=f"Architecture: {', '.join(MODELS)}.", show_default=False)]
ModelSet = Annotated[
    list[str],
    typer.Option("--model-set", help="option=value of the model, such as width=1.0.", show_default=False),
]
ModelSpec = Annotated[
    str | None,
    typer.Option(
        "--model",
        help=f"Network of the weights, where they have no card: {', '.join((*MODELS, *SPECS))} (runs your own code).",
        show_default=False,
        rich_help_panel=_MODEL,
    ),
]
ModelOptions = Annotated[
    list[str],
    typer.Option("--model-set", help="option=value of --model.", show_default=False, rich_help_panel=_MODEL),
]
Mean = Annotated[
    str | None,
    typer.Option(
        help="Mean of each channel that --model expects, such as 0.5 or 0.48,0.46,0.41; by default "
        "what is known of it, else 0.5.",
        rich_help_panel=_MODEL,
    ),
]
Std = Annotated[str | None, typer.Option(help="Standard deviation of each channel, likewise.", rich_help_panel=_MODEL)]
HeadName = Annotated[
    str | None,
    typer.Option(
        "--head", help="Name of the network's last layer, where it is not found by itself.", rich_help_panel=_MODEL
    ),
]
Forgotten = Annotated[
    list[str],
    typer.Option(
        help="Class that the model has forgotten before, where its card is lost; several times.",
        show_default=False,
        rich_help_panel=_MODEL,
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.", min=0, max=MOST_SEED)]
BatchSize = Annotated[int, typer.Option(help="Images in a batch.", min=1, max=MOST_IMAGES_IN_A_BATCH)]

Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda (cuda:1), mps.", rich_help_panel=_ENGINE)]
Precision = Annotated[
    str,
    typer.Option(
        help=f"Numbers to compute with: {', '.join(PRECISIONS)}, or auto: bfloat16 where the processor has it.",
        rich_help_panel=_ENGINE,
    ),
]
Compile = Annotated[
    bool,
    typer.Option("--compile", help="Compile the network: a slow start, faster afterwards.", rich_help_panel=_ENGINE),
]
MaxSteps = Annotated[
    int | None, typer.Option(help="Stop training after so many steps.", min=1, rich_help_panel=_ENGINE)
]
MaxSeconds = Annotated[
    float | None, typer.Option(help="Stop training after so many seconds.", min=0, rich_help_panel=_ENGINE)
]


def data_options(
    root: Root = None,
    size: Size = None,
    people: People = 10,
    per_class: PerClass = None,
    validation: Validation = 0.0,
    split_seed: SplitSeed = 0,
    skip_bad: SkipBad = False,
    image_column: ImageColumn = None,
    label_column: LabelColumn = None,
    workers: Workers = 2,
    class_names: ClassNames = None,
) -> DataOptions:
    """The options of a data set."""
    return DataOptions(
        root, size, people, per_class=per_class, validation=validation, split_seed=split_seed, skip_bad=skip_bad,
        image_column=image_column, label_column=label_column, workers=workers,
        classes=() if class_names is None else read_class_names(class_names),
    )  # fmt: skip


def opening_options(
    model: ModelSpec = None,
    model_set: ModelOptions = [],
    mean: Mean = None,
    std: Std = None,
    head: HeadName = None,
    forgotten: Forgotten = [],
) -> Opening:
    """The options of a model that comes from elsewhere."""
    if model is None and (model_set or mean or std):
        raise InputError("--model-set, --mean and --std belong to --model; name the network, or leave them out")
    options = model_options(model or "", model_set)
    return Opening(model or "", options, floats(mean, "mean"), floats(std, "std"), head or "", tuple(forgotten))


def engine_options(
    device: Device = "cpu",
    precision: Precision = "auto",
    compile_: Compile = False,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
) -> Engine:
    """The options of computing."""
    return Engine(device, precision, compile_, Budget(max_steps, max_seconds))


def device_option(device: Device = "cpu") -> Engine:
    """The option of computing without training."""
    return Engine(device, "float32")


def looking_options(device: Device = "cpu", precision: Precision = "auto") -> Engine:
    """The options of an audit: it looks and trains a little, and what it finds lies in neither's last digits."""
    return Engine(device, precision)


def taking(**groups: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a command take the options of each group; under the group's name it gets what the group makes of them."""
    shared = {name: list(inspect.signature(make).parameters.values()) for name, make in groups.items()}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**given: Any) -> Any:
            for name, make in groups.items():
                given[name] = make(**{option.name: given.pop(option.name) for option in shared[name]})
            return command(**given)

        own = [option for option in inspect.signature(command).parameters.values() if option.name not in groups]
        options = [option.replace(kind=option.KEYWORD_ONLY) for option in [*own, *chain(*shared.values())]]
        run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in options}
        return run

    return decorate


def weights_of(checkpoint: Path | None, weights: Path | None, opening: Opening) -> Path | None:
    """Return the file or folder that holds the weights, given as the argument or as an option."""
    if checkpoint is not None and weights is not None:
        raise InputError(f"both {checkpoint} and `weights` {weights} were given; give one of them")
    return check_weights(checkpoint or weights, opening)


def score_lines(scores: Evaluation, before: Evaluation | None = None) -> str:
    """Return a line for each score in %, with what it was before."""
    lines = []
    for name, value in scores.as_dict().items():
        was = getattr(before, name, None)
        beside = "" if was is None else f"   (before: {100 * was:.2f} %)"
        lines.append(f"  {name.replace('_', ' '):<24} {100 * value:6.2f} %{beside}")
    return "\n".join(lines)


def with_tracker(options: DataOptions, quiet: bool) -> DataOptions:
    """Let data that takes long to read show how far it is, unless only machines read on."""
    return replace(options, progress=silent if quiet else show)


def with_progress(engine: Engine, quiet: bool) -> Engine:
    """Let an engine show how far it is, unless only machines read on."""
    return replace(engine, progress=silent if quiet else show)
