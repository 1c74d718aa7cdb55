import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.spotter import Spotter, alignment
from unclass.models.head import find_head, head_inputs


def test_alignment_is_the_mean_cosine_of_all_pairs():
    h = torch.randn(6, 5)
    pairs = [F.cosine_similarity(h[i], h[j], dim=0) for i in range(6) for j in range(6) if i != j]
    torch.testing.assert_close(alignment(h), torch.stack(pairs).mean())
    assert alignment(torch.ones(4, 3)).item() > 0.9999


def features(model, x):
    with head_inputs(find_head(model, x)) as seen, torch.no_grad():
        model(x)
    return seen[0]


def test_features_stand_apart_where_that_is_asked_for(model, split, engine):
    forget = Batches(split.forget, len(split.forget))
    x, _ = next(iter(forget))
    data = TrainingData(forget, Withheld("D_r"), (3,))
    without, apart = (
        Spotter(epochs=30, lr=0.01, weight_decay=0.0, dispersion=d)(model, data, engine) for d in (0.0, 6.0)
    )
    assert alignment(features(apart, x)) < alignment(features(without, x)) - 0.05


def test_neighbours_are_unlearned_as_the_images_are(model, split, engine):
    forget = Batches(split.forget, len(split.forget))
    data = TrainingData(forget, Withheld("D_r"), (3,))
    own = Spotter(epochs=1, lr=0.01, own_share=1.0, dispersion=0.0, weight_decay=0.0, pgd_steps=0)
    near = Spotter(epochs=1, lr=0.01, own_share=0.0, dispersion=0.0, weight_decay=0.0, pgd_steps=0)
    one, other = own(model, data, engine), near(model, data, engine)  # without a step, x is its own neighbour
    torch.testing.assert_close(one.state_dict(), other.state_dict())
