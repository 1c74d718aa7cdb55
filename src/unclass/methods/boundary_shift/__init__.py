"""Boundary Shift, our own: the last layers are moved to where the retrained model would have its boundary."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.batches import Indexed, sampled
from unclass.data.split import TrainingData
from unclass.errors import InputError
from unclass.methods.boundary_shift.bystanders import CHANGES, POOL, chosen
from unclass.methods.boundary_shift.head_rows import forget_rows
from unclass.methods.boundary_shift.objective import Level, levelled, targets
from unclass.methods.boundary_shift.remarks import remarks
from unclass.methods.boundary_shift.seen import Change, Seen, as_it_is, outputs, stem_features
from unclass.methods.boundary_shift.statistics import Versions, batch_norm_moments, subtract_moments
from unclass.methods.boundary_shift.tail import HARM, Tail, Weights
from unclass.methods.boundary_shift.views import CANDIDATES, View, unseen_like
from unclass.methods.method import Counts, Method, Needs, Passes, option
from unclass.models.cut import Cut, tail_of_share
from unclass.models.head import Head, find_head
from unclass.training.engine import Engine

VIEW_BATCHES = 4  # that a view is chosen by
USUAL_SHARE, LEAST_PACE = 0.1, 0.03
LEAST_IMAGES, LEAST_POOL = 256, 16
MOST_TARGETS, MOST_FEATURES = 2**25, 2**27  # fewer images where each has a hundred thousand targets


@dataclass(frozen=True)
class BoundaryShift(Method):
    """Move only the last layers, so that the class stays away whatever becomes of batch norm. Reads D_f and the model.

    1. At most `images` of each forgotten class are looked at, and of each a view that the network was not trained with
       (`views.py`): D_f, and v(D_f), which stands for unseen images. Some are changed until the network takes them for
       other classes (`bystanders.py`): they stand for D_r.
    2. f₀ gives the level E, the entropies of f₀/T on v(D_f) without the class; the targets q(x) = softmax(f₀(x)/τ,
       forgotten classes at −∞), τ of each image such that their entropies are E; and the moments of every batch norm's
       input, from which the statistics of D_r follow by subtraction (`statistics.py`). `class_share` is π, the classes'
       share of the training images; 0: all classes are equal.
    3. The tail, which does at most `tail_share` of the work, is trained under both statistics in turn to lower CE(q, p)
       on D_f; and under those that it keeps also CE(q, p) on v(D_f), λ times how far the entropies of D_f and of
       v(D_f) are from E, μ times how far they are from each other, and κ times how far the outputs of bystanders among
       the other classes have moved. Where one image tells the class (`Nearness`), γ P₀/(P₀ + P) is added, P how far the
       last features of D_f are from each other and P₀ how far they were. So forgetting survives recalibration, the
       network is as sure of D_f as of unseen images, the other classes keep their place, and one image does not tell
       where the others are. The head is frozen.
    4. The tail's running means follow its weights (`following.py`).
    5. The head's rows of the forgotten classes become what a retrained model has there (`head_rows.py`).

    A step of Adam is about `pace` · ‖w‖ long at most: (10π)^1.5 of it, but at least 3 %, where π is below a tenth (and
    μ is 10π, γ (10π)² of its value), and a tenth of it where running means cannot follow; less where the network is
    not sure of D_f (`care`). Training ends with the first round of `steps` that leaves hardly an image of D_f in the
    class. A round that moves the outputs of bystanders too far is taken back.

    Without batch norm there is one version of the statistics. A network that cannot be cut is trained whole.
    `retain_sample` images of D_r, if given, are trained in between to stay as they are.
    """

    images: int = option(2048, "images of each forgotten class that are looked at, at most")
    temperature: float = option(
        0.7, "τ of the targets where there is no level: below 1 they are surer than the original"
    )
    level_temperature: float = option(0.85, "T of the level: below 1 it is surer than the original is of such views")
    evenness: float = option(20.0, "λ, the weight of being as sure of D_f and of its views as the level is")
    likeness: float = option(150.0, "μ, the weight of being as sure of D_f as of its views")
    keeping: float = option(50.0, "κ, the weight of changed pictures of other classes whose outputs stay")
    dispersion: float = option(35.0, "γ, the weight of features of D_f that stand apart from each other")
    tail_share: float = option(0.1, "share of the work that the layers may do which are trained")
    class_share: float = option(0.0, "share of the forgotten classes in the training images; 0: equal classes")
    pace: float = option(0.03, "length of a step as a share of ‖w‖, at most")
    steps: int = option(320, "training steps between two looks at how far it is")
    rounds: int = option(5, "rounds of so many steps at most")
    retain_sample: int = option(0, "images of D_r that are trained to stay as they are; 0: none is read")

    in_short: ClassVar[str] = "move the last layers' boundary"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    bench_presets: ClassVar[tuple[str, ...]] = ("",)
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        return Needs.FORGET | Needs.RETAIN if self.retain_sample else Needs.FORGET

    @property
    def trained_share(self) -> float:
        return self.tail_share

    def passes(self, counts: Counts) -> Passes:
        """Each image and its view under both statistics, a few to choose the view by, then one round or two."""
        seen = min(1.0, self.images / max(1, counts.forget))
        views = len(CANDIDATES) * min(1.0, VIEW_BATCHES * counts.batch_size / max(1, counts.forget))
        changed = len(CHANGES) * min(1.0, POOL / max(1, counts.forget))
        one = 2.5 * self.steps * counts.batch_size / max(1, counts.forget)
        retain = 2 * counts.share(self.retain_sample) if self.retain_sample else 0.0
        return Passes(forget_looks=3 * seen + views + changed, retain_looks=retain, tail=(one, 2 * one))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        quick = replace(engine, checkpoint=None, observer=None)  # seconds: nothing to resume
        tail = self.look(unlearned, data, quick)
        small = min(1.0, self.share(data, tail.forget.targets.shape[1]) / USUAL_SHARE)
        weights = Weights(self.evenness, self.likeness * small, self.keeping, self.dispersion * small**2)
        trained = tail.train(
            quick, pace=self.pace, slower=max(small**1.5, LEAST_PACE), steps=self.steps, rounds=self.rounds,
            weights=weights, limit=HARM * small ** (2 / 3),
        )  # fmt: skip
        with quick.arithmetic():
            forget_rows(tail.head, data.classes, tail.part, list(tail.batches(0)))
        engine.steps += quick.steps
        gap, held = tail.membership_gap(quick), tail.held(quick)
        engine.findings |= {"still_in_class": held, "membership_gap": gap, **asdict(trained)}
        return unlearned.eval()

    def remarks(self, findings: Mapping[str, float]) -> list[str]:
        return remarks(findings)

    def share(self, data: TrainingData, classes: int) -> float:
        """Return π; what was forgotten before has no share any more."""
        now, left = len(data.classes) - len(data.earlier), classes - len(data.earlier)
        return self.class_share or now / left

    def look(self, model: nn.Module, data: TrainingData, engine: Engine) -> Tail:
        """Return the tail with all that it needs: what the stem makes of each image, and what should become of it."""
        x, _ = engine.move(*next(iter(data.forget)))
        cut, head = stem_and_tail(model, x, self.tail_share), find_head(model, x)
        room = most_images(cut, head, x)
        images = min(self.images, max(LEAST_IMAGES, room))
        forget = Indexed(sampled(data.forget, images * (len(data.classes) - len(data.earlier))))
        pool = Indexed(sampled(data.forget, min(POOL, max(LEAST_POOL, room // len(CHANGES)))))
        kinds: dict[str, list[tuple[Indexed, Change]]] = {"forget": [(forget, as_it_is)]}
        kinds["bystanders"] = [(pool, change) for change in CHANGES]
        if view := choose_view(model, forget, data.classes, engine):
            kinds["views"] = [(forget, view)]
        if self.retain_sample:
            kinds["others"] = [(Indexed(data.sample(self.retain_sample)), as_it_is)]
        moments = batch_norm_moments(model)
        versions = Versions(moments)
        versions.keep()
        found: dict[str, tuple[Tensor, Tensor]] = {}
        for name, kind in kinds.items():
            watched = moments if name == "forget" else {}
            features = torch.cat([stem_features(cut, *one, engine, watched) for one in kind])
            found[name] = features, outputs(cut.tail, features, len(x), engine)
        seen, level = self.wanted(found, data.classes)
        if moments:
            subtract_moments(moments, self.share(data, found["forget"][1].shape[1]))
            versions.keep()
            for name in {"forget", "others"} & set(kinds):
                seen[name].features.append(stem_features(cut, *kinds[name][0], engine))
        return Tail(cut.tail, head, versions, data.classes, len(x), **seen, level=level)

    def wanted(
        self, found: dict[str, tuple[Tensor, Tensor]], classes: tuple[int, ...]
    ) -> tuple[dict[str, Seen], Level | None]:
        """Return what should come out for each kind of image, and the level that the views give."""
        should = {name: targets(logits, classes) for name, (_, logits) in found.items()}
        should["forget"] = targets(found["forget"][1], classes, self.temperature)
        level = None
        if "views" in found:
            logits = found["views"][1]
            level = Level.of(logits, classes, self.level_temperature)
            should["views"] = targets(logits, classes, self.level_temperature)
            should["forget"] = levelled(found["forget"][1], classes, level)
        seen = {name: Seen([features], should[name]) for name, (features, _) in found.items()}
        rows = chosen(found["bystanders"][1], classes)
        seen["bystanders"] = Seen([found["bystanders"][0][rows]], should["bystanders"][rows])
        return seen, level


@torch.no_grad()
def most_images(cut: Cut, head: Head, x: Tensor) -> int:
    """Return of how many images features and outputs can be kept."""
    return int(min(MOST_FEATURES // cut.stem(x[:1]).numel(), MOST_TARGETS // len(head.weight)))


def stem_and_tail(model: nn.Module, x: Tensor, share: float) -> Cut:
    """Return stem and tail; where a network cannot be cut, all of it is the tail."""
    try:
        return tail_of_share(model, x, share)
    except InputError:
        return Cut("input", nn.Identity(), model)


@torch.no_grad()
def choose_view(model: nn.Module, forget: Indexed, classes: tuple[int, ...], engine: Engine) -> View | None:
    """Return the view of D_f that a network takes as it takes unseen images, judged by some of them."""
    gone = torch.tensor(classes, device=engine.device)

    def recognised(x: Tensor) -> float:
        with engine.arithmetic():
            return torch.isin(model(x).argmax(1), gone).float().mean().item()

    batches = [x for x, _ in islice(engine.stream(forget), VIEW_BATCHES)]
    return unseen_like(torch.cat(batches), recognised)
