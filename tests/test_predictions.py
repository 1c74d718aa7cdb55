import math
from copy import deepcopy

import pytest
import torch

from unclass.data import Batches
from unclass.errors import Diverged, InputError
from unclass.methods.method import cross_entropy
from unclass.models import build, weights_digest
from unclass.predictions import Predictions, load_predictions, predict, predict_sets, save_predictions
from unclass.training.engine import Engine


@pytest.fixture
def predictions():
    torch.manual_seed(0)
    return Predictions(3 * torch.randn(20, 4), torch.randint(4, (20,)))


def test_logits_are_those_of_the_plain_forward_pass(trained, digits, engine):
    found = predict(trained, Batches(digits.test, 100), engine)
    x = digits.test.read(torch.arange(len(digits.test))).float() / 255
    with torch.no_grad():
        expected = trained(x)
    torch.testing.assert_close(found.logits, expected, rtol=1e-4, atol=1e-4)
    assert torch.equal(found.labels, digits.test.labels)


def test_predicting_leaves_weights_statistics_and_mode_alone(model, digits, engine):
    before = weights_digest(model)
    predict(model.train(), Batches(digits.test, 100), engine)
    assert weights_digest(model) == before
    assert model.training
    predict(model.eval(), Batches(digits.test, 100), engine)
    assert not model.training


def test_model_that_has_predicted_can_be_trained(trained, digits, engine):
    fresh = build(trained.card)
    predict(fresh, Batches(digits.test, 100), engine)
    before = weights_digest(fresh)
    engine.fit(fresh, Batches(digits.train, 100), cross_entropy, epochs=1, lr=0.1)
    assert weights_digest(fresh) != before


def test_gradients_can_be_taken_of_what_follows_the_logits(trained, digits, engine):
    temperature = torch.ones((), requires_grad=True)
    logits = predict(trained, Batches(digits.test, 100), engine).logits
    (logits * temperature).logsumexp(1).sum().backward()
    assert temperature.grad.isfinite()


def test_predictions_are_in_32_bits_whatever_the_engine_and_the_weights(model, digits):
    batches = Batches(digits.test, 100)
    wide = predict(model, batches, Engine(precision="float32")).logits
    assert torch.equal(predict(model, batches, Engine(precision="bfloat16")).logits, wide)
    half = predict(model.half(), batches, Engine(precision="float32")).logits
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, wide, rtol=0.05, atol=0.1)


def test_the_four_sets_are_predicted_under_their_names(trained, split, engine):
    sets = predict_sets(trained, split, engine, batch_size=50)
    assert tuple(sets) == ("retain", "forget", "retain_test", "forget_test")
    for name, images in split.sets().items():
        assert torch.equal(sets[name].labels, images.labels)
        again = predict(trained, Batches(images, 500), engine).logits
        torch.testing.assert_close(sets[name].logits, again, rtol=1e-4, atol=1e-4)


def test_saved_predictions_come_back(predictions, tmp_path):
    part = predictions.select(torch.tensor([3, 1]))
    path = save_predictions({"retain": predictions, "retain_test": part}, tmp_path / "predictions.safetensors")
    again = load_predictions(path)
    assert set(again) == {"retain", "retain_test"}
    for name, expected in (("retain", predictions), ("retain_test", part)):
        assert torch.equal(again[name].logits, expected.logits)
        assert torch.equal(again[name].labels, expected.labels)


def test_selection_keeps_logits_beside_their_labels(predictions):
    part = predictions.select(torch.tensor([3, 1]))
    assert len(part) == 2
    assert torch.equal(part.logits, predictions.logits[[3, 1]])
    assert torch.equal(part.labels, predictions.labels[[3, 1]])


def test_probabilities_classes_and_entropy_equal_the_slow_formulas(predictions):
    for row, logits in enumerate(predictions.logits.tolist()):
        total = sum(math.exp(logit) for logit in logits)
        p = [math.exp(logit) / total for logit in logits]
        assert predictions.probabilities[row].tolist() == pytest.approx(p, rel=1e-5)
        assert predictions.entropy[row].item() == pytest.approx(-sum(q * math.log(q) for q in p), rel=1e-4)
        assert predictions.classes[row] == logits.index(max(logits))


def test_entropy_of_certainty_is_zero_and_of_ignorance_the_logarithm_of_the_count():
    predictions = Predictions(torch.tensor([[1000.0, 0, 0, 0], [5.0, 5, 5, 5]]), torch.zeros(2))
    assert predictions.entropy.tolist() == pytest.approx([0, math.log(4)])


@pytest.mark.parametrize(("logits", "labels"), [((3, 2), 2), ((3,), 3), ((3, 2, 1), 3)])
def test_logits_that_do_not_fit_the_labels_are_an_error(logits, labels):
    with pytest.raises(InputError, match="do not fit; give N × K and N"):
        Predictions(torch.zeros(logits), torch.zeros(labels))


@pytest.mark.parametrize("weight", [3e38, -3e38])
def test_outputs_that_are_no_numbers_are_an_error_in_one_line(trained, digits, engine, weight):
    large = deepcopy(trained)
    with torch.no_grad():
        for tensor in large.parameters():
            tensor.fill_(weight)
    with pytest.raises(Diverged, match=r"^the model gives NaN or infinity for \d+ of \d+ images; its weights are"):
        predict(large, Batches(digits.test, 100), engine)


def test_outputs_of_minus_infinity_are_those_of_a_masked_class(trained, digits, engine):
    masked = deepcopy(trained)
    masked.network.register_forward_hook(lambda *given: given[2].index_fill(1, torch.tensor([3]), -torch.inf))
    assert not (predict(masked, Batches(digits.test, 100), engine).classes == 3).any()
