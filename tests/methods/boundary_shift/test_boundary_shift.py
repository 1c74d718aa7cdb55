"""Boundary Shift: only the tail moves, and the class does not come back through batch norm."""

import pytest
import torch
from torch import Tensor, nn

import unclass
from unclass.audits.recalibration import recalibrate
from unclass.data import Batches, ImageData, ImageSet, Indexed, Split, TrainingData, Withheld
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shift.tail import Until
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.predictions import predict
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine


def forget_only(split: Split) -> TrainingData:
    return TrainingData(Batches(split.forget, 16, shuffle=True), Withheld("D_r"), split.classes)


def test_the_stem_keeps_its_weights_and_the_tail_moves(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(trained, forget_only(split), engine)
    before, after = dict(trained.named_parameters()), dict(unlearned.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert "network.head.weight" in moved and "network.blocks.2.conv.weight" in moved
    assert not any(name.startswith(("network.blocks.0", "network.blocks.1")) for name in moved)


def test_the_class_does_not_come_back_by_recalibration(trained: Classifier, split: Split, engine: Engine) -> None:
    def after(method: BoundaryShift | BoundaryShrink) -> float:
        again = recalibrate(method(trained, forget_only(split), engine), split.retain, engine, 0)
        assert again is not None
        return accuracy(predict(again, Batches(split.forget), engine))

    assert after(BoundaryShift()) < 0.1
    assert after(BoundaryShrink(**BoundaryShrink.presets["authors"])) > 0.9


def test_targets_are_the_sharpened_output_without_the_class(trained: Classifier, split: Split, engine: Engine) -> None:
    data = forget_only(split)
    forget = Indexed(data.forget)
    x = next(iter(forget))[0]
    tail = BoundaryShift(temperature=0.5).look(trained_copy(trained), x, forget, data, engine)
    for place, x in enumerate(split.forget.read(torch.arange(5)).float() / 255):
        p = trained(x[None]).double().softmax(1)[0].detach() ** 2
        p[3] = 0
        assert torch.allclose(tail.targets[place].double(), p / p.sum(), atol=1e-4)


def test_what_the_tail_is_given_is_the_stem_under_both_statistics(
    trained: Classifier, split: Split, engine: Engine
) -> None:
    data, model = forget_only(split), trained_copy(trained)
    forget = Indexed(data.forget)
    tail = BoundaryShift().look(model, next(iter(forget))[0], forget, data, engine)
    x = split.forget.read(torch.arange(4)).float() / 255
    logits = []
    for version in (0, 1):
        tail.versions.use(version)
        logits.append(model(x))
        torch.testing.assert_close(tail.part(tail.features[version][:4]), logits[-1], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(logits[0], trained(x), rtol=1e-4, atol=1e-4)
    assert not torch.allclose(logits[0], logits[1], atol=1e-2)


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


def test_a_network_that_cannot_be_cut_is_trained_whole(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(Untraceable(trained), forget_only(split), engine)
    assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.1


def test_no_learning_rate_need_be_set_and_a_wild_one_is_taken_back(
    trained: Classifier, split: Split, engine: Engine
) -> None:
    for method in (BoundaryShift(), BoundaryShift(lr=300.0, rounds=30)):
        unlearned = method(trained, forget_only(split), engine)
        assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.05
        assert accuracy(predict(unlearned, Batches(split.retain), engine)) > 0.8


def test_it_stops_before_the_last_round_when_it_is_there(trained: Classifier, split: Split) -> None:
    short, long = Engine(precision="float32"), Engine(precision="float32")
    BoundaryShift(rounds=60)(trained, forget_only(split), short)
    BoundaryShift(rounds=90)(trained, forget_only(split), long)
    assert short.steps == long.steps > 0


def turned(images: ImageSet) -> ImageSet:
    """The digits as they are, turned, mirrored and inverted: forty classes."""
    x = images.read(torch.arange(len(images)))
    pictures = torch.cat([x, x.rot90(1, (2, 3)), x.flip(3), 255 - x]).contiguous()
    return ImageSet.of(pictures, torch.cat([images.labels + 10 * kind for kind in range(4)]))


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


@pytest.mark.parametrize(
    ("share", "moved"), [(0.1, 0.085), (0.5, 0.085), (0.05, 0.0425), (0.025, 0.02125), (1e-5, 0.02)]
)
def test_a_smaller_class_may_move_the_weights_less(share: float, moved: float) -> None:
    assert Until.of_share(share).moved == pytest.approx(moved)
