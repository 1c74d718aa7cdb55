"""The parts of the audit, each on what it promises."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn

from unclass.audits import probe, relearn
from unclass.audits.attention import grad_cam, last_convolution
from unclass.audits.check import Measure
from unclass.audits.decision_space import embed
from unclass.audits.examine import examine
from unclass.audits.figure_words import beyond
from unclass.audits.limits import (
    at_most_chance,
    nearer_to_retrained,
    no_advantage,
    unharmed,
    well_below_original,
    within,
)
from unclass.audits.observe import look, observe, observe_head, sample_split, suited
from unclass.audits.privacy import attack, privacy_measures
from unclass.audits.provenance import provenance_section
from unclass.audits.recalibration import CURVE, recalibrate, recalibration_curve
from unclass.audits.shadow import Shadows
from unclass.audits.stopwatch import Stopwatch
from unclass.audits.thumbnails import data_uri, heat_uri
from unclass.audits.utility import share_measure
from unclass.audits.verdict import decide
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.metrics import accuracy
from unclass.models import Classifier, weights_digest
from unclass.predictions import predict_sets
from unclass.training.engine import Engine


def test_observing_gives_the_same_logits_as_predicting(model: Classifier, split: Split, engine: Engine) -> None:
    seen = observe(model, split, engine)
    for name, predictions in predict_sets(model, split, engine).items():
        assert torch.allclose(seen.predictions[name].logits, predictions.logits, atol=1e-4)
        again = seen.features[name] @ seen.head_weight.T + seen.head_bias
        assert torch.allclose(again, predictions.logits, atol=1e-3)
    assert len(seen.layers) == 3
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_control_is_seen_through_the_originals_features(model: Classifier, split: Split, engine: Engine) -> None:
    original, masked = observe(model, split, engine), deepcopy(model)
    hide(masked)
    quick, slow = observe_head(masked, original, split, engine), observe(masked, split, engine)
    assert quick is not None and torch.equal(quick.head_weight, slow.head_weight)
    for name in slow.predictions:
        assert torch.allclose(quick.predictions[name].logits, slow.predictions[name].logits, atol=1e-3)
    scaled = nn.Sequential(model, Twice())
    assert observe_head(scaled, observe(scaled, split, engine), split, engine) is None


class Twice(nn.Module):
    """A scale after the head."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


def test_sampling_keeps_small_sets_and_balances_large_ones(split: Split) -> None:
    sampled = sample_split(split, seed=0, largest=45)
    assert len(sampled.forget) == len(split.forget)
    assert sampled.retain.labels.bincount().tolist() == [5, 5, 5, 0, 5, 5, 5, 5, 5, 5]


@pytest.mark.parametrize("tracked", [True, False])
def test_recalibration_undoes_wrong_statistics_and_leaves_the_model(
    model: Classifier, split: Split, engine: Engine, tracked: bool
) -> None:
    broken = deepcopy(model)
    for module in broken.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.add_(3.0)  # type: ignore[operator, union-attr]
            module.track_running_stats = tracked  # some freeze their layers so
    digest = weights_digest(broken)
    again = recalibrate(broken, split.retain, engine)
    assert again is not None and weights_digest(broken) == digest and not again.training
    assert accuracy(look(broken, split.forget, engine)) < 0.5 < accuracy(look(again, split.forget, engine))


def test_the_recalibration_curve_starts_at_the_model_and_ends_at_its_recalibrated_copy(
    model: Classifier, split: Split, engine: Engine
) -> None:
    curve = recalibration_curve(model, split, engine, seed=1)
    counts = [count for count, _ in curve]
    again = recalibrate(model, split.retain, engine, seed=1, images=counts[-1])
    assert counts == [0, *(count for count in CURVE if count <= len(split.retain))] and len(counts) > 2
    ends = [accuracy(look(one, split.forget, engine)) for one in (model, again) if one is not None]
    assert [curve[0][1], curve[-1][1]] == pytest.approx(ends)


def test_recalibration_is_not_applicable_without_batch_norm(split: Split, engine: Engine) -> None:
    plain = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    assert recalibrate(plain, split.retain, engine) is None
    assert recalibration_curve(plain, split, engine) == []


def test_recalibration_averages_over_all_batches(model: Classifier, split: Split, engine: Engine) -> None:
    again = recalibrate(model, split.retain, engine)
    assert again is not None
    first = model.network.blocks[0]  # type: ignore[index, union-attr]
    rows = torch.randperm(len(split.retain), generator=torch.Generator().manual_seed(0))
    means = []
    for part in rows.split(125):
        x = split.retain.read(part).float() / 255
        means.append(first.conv((x - model.mean) / model.std).mean(dim=(0, 2, 3)))
    found = again.network.blocks[0].bn.running_mean  # type: ignore[index, union-attr]
    assert torch.allclose(found, torch.stack(means).mean(0), atol=1e-4)


@pytest.mark.parametrize("gap, found", [(20.0, 1.0), (0.0, 0.0)])
def test_probes_find_a_class_that_stands_apart_and_not_one_that_does_not(gap: float, found: float) -> None:
    features, labels = apart(gap)
    assert probe.nearest_mean(features, labels).share == pytest.approx(found, abs=0.45)
    assert probe.linear_probe(features, labels) >= found - 0.05


def test_the_same_reading_has_no_noise_beside_itself_and_another_one_has() -> None:
    one, other = (probe.nearest_mean(*apart(gap)) for gap in (2.0, 1.0))
    assert one.deviation(one) == 0 < one.deviation(other)
    assert one.hits.shape == (30, 60)
    assert one.hits.isnan().sum(dim=1).tolist() == [1] * 30  # an image is not read from itself


def apart(gap: float) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Features of two classes that stay and of one that lies so far from the first."""
    generator = torch.Generator().manual_seed(0)
    labels = {name: torch.full((30,), 2) for name in ("forget", "forget_test")} | {"retain": torch.arange(2).repeat(30)}
    features = {name: torch.randn(len(y), 8, generator=generator) for name, y in labels.items()}
    features["retain"][:, 0] += 20 * labels["retain"]
    for name in ("forget", "forget_test"):
        features[name][:, 1] += gap
    return features, labels


def test_relearning_curves_start_at_the_model_and_leave_it_alone(
    model: Classifier, split: Split, engine: Engine
) -> None:
    hide(model)
    digest = weights_digest(model)
    forget = relearn.from_forget(model, split.forget, split.forget_test, engine)
    retain = relearn.from_retain(model, split.retain, split.forget_test, engine)
    assert [step for step, _ in forget] == [step for step, _ in retain] == list(relearn.STEPS)
    assert forget[0][1] == retain[0][1] == pytest.approx(accuracy(look(model, split.forget_test, engine)))
    assert weights_digest(model) == digest and engine.observer is None


def test_a_model_that_names_the_class_has_nothing_to_relearn(model: Classifier, split: Split, engine: Engine) -> None:
    as_it_is = accuracy(look(model, split.forget_test, engine))
    assert as_it_is >= relearn.KNOWN
    assert relearn.from_forget(model, split.forget, split.forget_test, engine) == [(0, as_it_is)]
    assert relearn.from_retain(model, split.retain, split.forget_test, engine) == [(0, as_it_is)]


def hide(model: Classifier) -> None:
    """Let a model never say 3."""
    with torch.no_grad():
        model.network.head.bias[3] -= 7  # type: ignore[operator, union-attr, index]


def test_relearning_that_diverges_is_tried_with_smaller_steps(
    model: Classifier, split: Split, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(model)
    calm = relearn.from_forget(model, split.forget, split.forget_test, engine)
    monkeypatch.setattr(relearn, "FORGET_LR", 1e30)
    flat = relearn.from_forget(model, split.forget, split.forget_test, engine)
    assert [step for step, _ in flat] == list(relearn.STEPS) and {value for _, value in flat} == {calm[0][1]}


def test_limits_follow_the_retrained_models() -> None:
    assert at_most_chance(10)([]).threshold == at_most_chance(200)([]).threshold == 0.1
    assert at_most_chance(2)([]).threshold == 0.5 and at_most_chance(10)([0.05]).threshold == pytest.approx(0.15)
    assert nearer_to_retrained(0.9)([0.3, 0.5]).threshold == pytest.approx(0.7)
    assert nearer_to_retrained(0.1, higher=True)([0.9, 0.5]).threshold == pytest.approx(0.3)
    assert nearer_to_retrained(0.9, share=0.75)([0.5]).threshold == pytest.approx(0.8)
    assert nearer_to_retrained(0.52)([0.5]).threshold is None  # cannot tell: judges nothing
    assert well_below_original(0.9)([]).threshold == pytest.approx(0.8368, abs=1e-4)  # Φ(1.2816 − .3)
    hard = well_below_original(0.999)([]).threshold  # digits, 0: a retrained model has .989
    assert hard is not None and 0.989 < hard < 0.999 and well_below_original(0.1)([]).threshold < 0.1
    assert well_below_original(0.9)([0.4, 0.5]).threshold == pytest.approx(0.8474, abs=1e-4)  # Φ(.8 · 1.2816)
    easy = well_below_original(1.0)([0.876]).threshold  # digits, 0: two retrained models have .876 and .991
    assert easy is not None and 0.991 < easy < 1.0
    assert unharmed()([]).threshold == unharmed()([0.02]).threshold == -0.03
    assert unharmed()([-0.02]).threshold == pytest.approx(-0.05)
    assert no_advantage(10_000, 10_000)([]).threshold == 0.05
    assert no_advantage(140, 36)([]).threshold == pytest.approx(5 * 0.0541, abs=1e-3)
    assert within(0.1)([0.2, 0.5]).threshold == pytest.approx(0.3)
    assert within(0.1)([]).threshold is None


@pytest.mark.parametrize(
    "interval, status", [((0.12, 0.3), "failed"), ((0.05, 0.1), "passed"), ((0.05, 0.15), "undecided")]
)
def test_a_figure_is_judged_by_its_whole_interval(interval: tuple[float, float], status: str) -> None:
    value = sum(interval) / 2 - 0.01
    one = Measure.of("recalibration", at_most_chance(10), {"unlearned": value}, {"unlearned": interval}, 100)
    assert one.judge("unlearned") == one.check().status == status
    assert (one.more_images() is None) == (status != "undecided")
    turned = Measure.of("retain-change", unharmed(), {"unlearned": -0.03 - (value - 0.1)},
                        {"unlearned": (-0.03 - (interval[1] - 0.1), -0.03 - (interval[0] - 0.1))}, 100)  # fmt: skip
    assert turned.judge("unlearned") == status


def test_an_undecided_check_says_how_many_more_images_would_decide_it() -> None:
    one = Measure.of("retain-change", unharmed(), {"unlearned": -0.02}, {"unlearned": (-0.04, 0.0)}, 100)
    assert one.more_images() == 300
    outcome = decide([one], [], ["deer"])
    assert outcome.status == "undecided" and "about 300 more test images of the other classes" in outcome.sentence


@pytest.mark.parametrize(("right", "count", "more"), [(0, 8, 27), (0, 1, 34), (1, 30, 48)])
def test_the_images_that_decide_a_share_are_just_enough(right: int, count: int, more: int) -> None:
    one = share_measure("recalibration", at_most_chance(10), {"unlearned": right / count}, count)
    assert one.judge("unlearned") == "undecided" and one.more_images() == more
    shares = {"unlearned": right / count}
    enough = [share_measure("recalibration", at_most_chance(10), shares, count + extra) for extra in (more - 1, more)]
    assert [again.judge("unlearned") for again in enough] == ["undecided", "passed"]


def test_with_hardly_an_image_no_fewer_than_ten_are_asked_for() -> None:
    one = Measure.of("own-logit", well_below_original(0.99), {"unlearned": 0.2}, {"unlearned": (0.0, 1.0)}, 1)
    assert one.more_images() == 9


def test_an_attack_that_lacks_images_passes_nobody_and_says_how_many_it_lacks() -> None:
    gone = share_measure("relearn-retain", at_most_chance(10), {"unlearned": 0.0}, 300, lacking=60)
    assert gone.judge("unlearned") == "undecided" and gone.more_images() == 60
    assert "about 60 more training images of the other classes would decide" in decide([gone], [], ["deer"]).sentence
    back = share_measure("relearn-retain", at_most_chance(10), {"unlearned": 0.9}, 300, lacking=60)
    assert back.judge("unlearned") == "failed" and back.more_images() is None


def test_images_that_the_audit_would_not_look_at_are_not_asked_for() -> None:
    one = share_measure("recalibration", at_most_chance(10), {"unlearned": 0.09}, 500, most=500)
    assert one.judge("unlearned") == "undecided" and one.more_images() is None
    assert "the 500 training images of the class that the audit looks at" in decide([one], [], ["deer"]).sentence
    free = share_measure("recalibration", at_most_chance(10), {"unlearned": 0.09}, 500)
    assert free.more_images() == pytest.approx(2800, rel=0.1)  # 1.96² · .09 · .91 / .01² = 3,146 in all, and skew


def test_chance_never_lets_everything_pass() -> None:
    assert no_advantage(100, 5)([]).threshold == no_advantage(3, 3)([]).threshold == 0.3


def test_a_limit_that_shrinks_with_the_noise_is_asked_again_for_more_images() -> None:
    def with_images(_: str, count: int) -> tuple[float, float]:
        return 0.2 - 1 / count**0.5, 0.2 + 1 / count**0.5

    def limit(count: int) -> float:
        return 2.5 / count**0.5

    one = Measure.of(
        "population-attack", no_advantage(140, 36), {"unlearned": 0.2}, {"unlearned": with_images("", 100)}, 100, "",
        with_images, limit_with=limit,
    )  # fmt: skip
    assert one.judge("unlearned") == "undecided"
    more = one.more_images()
    assert more is not None and with_images("", 100 + more)[0] > limit(100 + more)  # it fails then, as it should
    assert 0.2 * (100 + more) ** 0.5 == pytest.approx(3.5, abs=0.1)


def test_a_class_is_read_from_each_of_its_images_once() -> None:
    labels = torch.tensor([4] * 30 + [7] * 20)
    rows = probe.one_of_each(labels, seed=0)
    assert rows.shape == (20, 2) and (labels[rows] == torch.tensor([4, 7])).all()
    assert len(rows.flatten().unique()) == 40


def test_more_images_leave_the_noise_of_the_labelled_ones() -> None:
    one, other = (probe.nearest_mean(*apart(gap)) for gap in (2.0, 1.0))
    known, many = one.deviation(other), one.deviation(other, 10**9)
    assert 0 < many < known and one.deviation(other, one.hits.shape[1]) == known


def test_looking_in_half_the_digits_keeps_the_head_in_full(model: Classifier, split: Split, engine: Engine) -> None:
    low = Engine(precision="bfloat16")
    exact, seen = observe(model, split, engine), observe(model, split, low)
    logits, found = (one.predictions["retain_test"].logits for one in (exact, seen))
    assert not torch.equal(logits, found) and torch.allclose(logits, found, atol=0.05 * float(logits.abs().max()))
    assert torch.allclose(
        seen.features["forget"] @ seen.head_weight.T + seen.head_bias, seen.predictions["forget"].logits, atol=1e-3
    )
    assert len(found[:, 0].unique()) > 0.9 * len(logits[:, 0].unique())  # 8 bits of a logit would be tied
    assert not torch.is_autocast_enabled("cpu")


def test_a_network_that_knows_32_bits_only_is_looked_at_in_these(model: Classifier, split: Split) -> None:
    class Fussy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = model

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if torch.is_autocast_enabled("cpu"):
                raise RuntimeError("expected scalar type Float but found BFloat16")
            return self.network(x)

    low = Engine(precision="bfloat16")
    assert suited(low, [model], split) is low
    assert suited(low, [model, Fussy()], split).precision == "float32"
    assert not torch.is_autocast_enabled("cpu")


def test_grad_cam_lights_up_on_the_last_convolution(model: Classifier, split: Split, engine: Engine) -> None:
    x, y = split.forget.read(torch.arange(3)).float() / 255, split.forget.labels[:3]
    name, layer = last_convolution(model, x)
    assert name == "network.blocks.2.conv" and layer is not None
    heat = grad_cam(model, layer, x, y)
    assert heat.shape[0] == 3 and heat.min() >= 0 and heat.max() <= 1
    assert not any(module._forward_hooks for module in model.modules())


def test_a_network_without_convolution_has_no_map() -> None:
    assert last_convolution(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), torch.rand(1, 1, 2, 2)) == ("", None)


def test_the_space_is_the_same_for_the_same_seed_and_takes_different_sizes() -> None:
    generator = torch.Generator().manual_seed(0)
    features = {
        "original": torch.randn(20, 6, generator=generator),
        "unlearned": torch.randn(20, 6, generator=generator),
    }
    assert embed(features, 0) == embed(features, 0)
    features["retrained"] = torch.randn(20, 9, generator=generator)
    assert {len(points) for points in embed(features, 0).values()} == {20}


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_are_data_uris(channels: int) -> None:
    pixels = torch.randint(255, (channels, 8, 6), dtype=torch.uint8)
    for text in (data_uri(pixels, 32), heat_uri(pixels, torch.rand(4, 4), 32)):
        assert text.startswith("data:image/png;base64,") and len(text) < 6000


def test_one_shadow_model_is_too_few() -> None:
    with pytest.raises(InputError, match="at least two"):
        Shadows([nn.Linear(1, 1)], [nn.Linear(1, 1)])


def test_what_is_scarce_is_asked_for(split: Split, model: Classifier, engine: Engine) -> None:
    few = replace(split, forget=split.forget.select(torch.arange(4)))
    seen = examine({"original": model, "unlearned": model}, {}, few, Stopwatch(engine), 0, 0)
    one = next(one for one in privacy_measures(seen, attack(seen), 0) if one.key == "population-attack")
    assert one.images == 4 and one.limit([]).threshold == 0.3
    assert "training images of the class" in beyond(one) and "test images" not in beyond(one)


def test_an_audit_needs_images_of_every_kind(split: Split) -> None:
    with pytest.raises(InputError, match="no test images of classes that stay and no test images of the class"):
        sample_split(
            replace(
                split, retain_test=split.forget_test.of_classes([0]), forget_test=split.forget_test.of_classes([0])
            ),
            0,
        )


def test_the_record_says_who_ran_the_audit(monkeypatch: pytest.MonkeyPatch, digits: ImageData) -> None:
    monkeypatch.setenv("UNCLASS_OPERATOR", "A. Turing")
    assert provenance_section(digits, 0, {}, "bfloat16").by == "A. Turing"
