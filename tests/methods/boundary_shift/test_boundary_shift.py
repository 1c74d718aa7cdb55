"""Boundary Shift: only the tail moves, and the class does not come back through batch norm."""

import pytest
import torch
from torch import Tensor, nn

import unclass
from unclass.audits.recalibration import recalibrate
from unclass.data import Batches, ImageData, ImageSet, Indexed, Split, TrainingData, Withheld
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.methods.method import cross_entropy
from unclass.metrics import accuracy
from unclass.models import Classifier, weights_digest
from unclass.predictions import predict
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine


def forget_only(split: Split) -> TrainingData:
    return TrainingData(Batches(split.forget, 16, shuffle=True), Withheld("D_r"), split.classes)


def test_the_stem_keeps_its_weights_and_the_tail_moves(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(trained, forget_only(split), engine)
    before, after = dict(trained.named_parameters()), dict(unlearned.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert "network.blocks.2.conv.weight" in moved
    assert not any(name.startswith(("network.blocks.0", "network.blocks.1")) for name in moved)


def test_of_the_head_only_the_forgotten_row_changes(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(trained, forget_only(split), engine)
    before, after = trained.network.head, unlearned.network.head  # type: ignore[union-attr]
    assert (before.weight != after.weight).any(1).nonzero().flatten().tolist() == [3]
    assert (before.bias != after.bias).nonzero().flatten().tolist() == [3]


def test_the_class_does_not_come_back_by_recalibration(trained: Classifier, split: Split, engine: Engine) -> None:
    def after(method: BoundaryShift | BoundaryShrink) -> float:
        again = recalibrate(method(trained, forget_only(split), engine), split.retain, engine, 0)
        assert again is not None
        return accuracy(predict(again, Batches(split.forget), engine))

    assert after(BoundaryShift()) < 0.1
    assert after(BoundaryShrink(**BoundaryShrink.presets["authors"])) > 0.9


def test_targets_and_features_are_those_of_the_original_under_both_statistics(
    trained: Classifier, split: Split, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = trained_copy(trained)
    monkeypatch.setattr("unclass.methods.boundary_shift.choose_view", lambda *_: None)  # no view, and so no level
    tail = BoundaryShift(temperature=0.5).look(model, forget_only(split), engine)
    x = Indexed(forget_only(split).forget)
    pictures = torch.cat([x for x, _ in x])[torch.cat([i for _, i in x]).argsort()]
    p = trained(pictures).double().softmax(1).detach() ** 2
    p[:, 3] = 0
    torch.testing.assert_close(tail.forget.targets.double(), p / p.sum(1, keepdim=True), atol=1e-4, rtol=1e-3)
    logits = []
    for version in (0, 1):
        tail.versions.use(version)
        logits.append(model(pictures))
        found = tail.part(tail.forget.features[version])
        torch.testing.assert_close(found, logits[-1], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(logits[0], trained(pictures), rtol=1e-3, atol=1e-3)
    assert not torch.allclose(logits[0], logits[1], atol=1e-2)


def test_it_looks_at_no_more_images_than_it_needs_and_which_depends_on_the_seed(
    trained: Classifier, split: Split, engine: Engine
) -> None:
    looked = []
    for seed in (0, 0, 1):
        batches = Batches(split.forget, 16, shuffle=True, seed=seed)
        data = TrainingData(batches, Withheld("D_r"), split.classes)
        looked.append(BoundaryShift(images=20).look(trained_copy(trained), data, engine).forget.features[0])
    assert len(looked[0]) == 20
    assert torch.equal(looked[0], looked[1]) and not torch.equal(looked[0], looked[2])


def test_another_seed_gives_other_weights(trained: Classifier, split: Split, engine: Engine) -> None:
    first, same, other = (
        unlearn(trained, split, BoundaryShift(), engine, Settings(seed, 16)).model for seed in (0, 0, 1)
    )
    assert weights_digest(first) == weights_digest(same) != weights_digest(other)


def test_it_says_what_is_left(trained: Classifier, split: Split, engine: Engine) -> None:
    found = unlearn(trained, split, BoundaryShift(), engine, Settings(0, 16)).findings
    assert found["still_in_class"] == 0 and 0 <= found["membership_gap"] < 0.5 and found["harm"] >= 0
    nothing = unlearn(trained, split, BoundaryShift(pace=1e-9), engine, Settings(0, 16)).findings
    assert nothing["harm"] < found["harm"]


def test_the_model_keeps_the_statistics_of_its_stem(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(trained, forget_only(split), engine)
    before, after = dict(trained.named_buffers()), dict(unlearned.named_buffers())
    for name in before:
        if name.startswith(("network.blocks.0", "network.blocks.1")):
            assert torch.equal(before[name], after[name])


def test_a_sample_of_the_rest_is_read_only_when_asked_for(trained: Classifier, split: Split, engine: Engine) -> None:
    outcome = unlearn(trained, split, BoundaryShift(), engine, Settings(0, 16))
    assert outcome.retain_images_read == 0
    outcome = unlearn(trained, split, BoundaryShift(retain_sample=40), engine, Settings(0, 16))
    assert 40 <= outcome.retain_images_read <= 64
    assert accuracy(predict(outcome.model, Batches(split.forget), engine)) < 0.05


def test_classes_are_forgotten_one_after_another(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    model: nn.Module = trained
    for gone in range(4):
        model = unlearn(model, Split.of(digits, [gone]), BoundaryShift(), engine, Settings(0, 16)).model
        logits = predict(model, Batches(digits.train), engine).logits
        assert not torch.isin(logits.argmax(1), torch.arange(gone + 1)).float().mean() > 0.01
    rest = Split.of(digits, range(4)).retain
    assert accuracy(predict(model, Batches(rest), engine)) > 0.8


def trained_copy(model: Classifier) -> nn.Module:
    copy = Classifier(type(model.network)(10, width=8), model.card)
    copy.load_state_dict(model.state_dict())
    return copy.eval()


class Untraceable(nn.Module):
    """Decides by its input, which cannot be traced."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) if x.sum() >= 0 else self.inner(-x)  # type: ignore[no-any-return]


def test_a_network_that_cannot_be_traced_forgets_all_the_same(
    trained: Classifier, split: Split, engine: Engine
) -> None:
    unlearned = BoundaryShift()(Untraceable(trained), forget_only(split), engine)
    assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.1


def test_a_wild_pace_is_taken_back(trained: Classifier, split: Split, engine: Engine) -> None:
    for method in (BoundaryShift(), BoundaryShift(pace=1.0, rounds=12)):
        unlearned = method(trained, forget_only(split), engine)
        assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.05
        assert accuracy(predict(unlearned, Batches(split.retain), engine)) > 0.8


def test_it_stops_before_the_last_round_when_it_is_there(trained: Classifier, split: Split) -> None:
    steps = []
    for rounds in (6, 9):
        engine = Engine(precision="float32")
        torch.manual_seed(0)
        BoundaryShift(rounds=rounds)(trained, forget_only(split), engine)
        steps.append(engine.steps)
    assert 0 < steps[0] == steps[1]


def test_a_network_of_one_layer_forgets_too(digits: ImageData, engine: Engine) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    engine.fit(model, Batches(digits.train, 32), cross_entropy, epochs=10, lr=0.2)
    found = unclass.forget(model, digits, [3], "boundary-shift", engine=engine)
    after = unclass.evaluate(found, digits, [3], engine=engine)
    assert after.accuracy_forget < 0.1


def turned(images: ImageSet) -> ImageSet:
    """The digits as they are, turned, mirrored and inverted: forty classes."""
    x = images.read(torch.arange(len(images)))
    pictures = torch.cat([x, x.rot90(1, (2, 3)), x.flip(3), 255 - x]).contiguous()
    return ImageSet.of(pictures, torch.cat([images.labels + 10 * kind for kind in range(4)]))


@pytest.mark.long
def test_ten_erasures_one_after_another_do_not_eat_the_model(digits: ImageData, engine: Engine) -> None:
    names = tuple(f"{digit} {kind}" for kind in ("as it is", "turned", "mirrored", "inverted") for digit in range(10))
    data = ImageData("forty", names, turned(digits.train), turned(digits.test), {})
    original = unclass.train(data, "small-cnn", epochs=8, lr=0.1, engine=engine)
    unlearned, gone = original, list(range(0, 40, 4))
    for index in gone:
        unlearned = unclass.forget(unlearned, data, [index], "boundary-shift", engine=engine)
    before, after = (unclass.evaluate(model, data, gone, engine=engine) for model in (original, unlearned))
    assert after.accuracy_forget == after.accuracy_forget_test == 0
    assert after.accuracy_retain_test > before.accuracy_retain_test - 0.02
