from torch import nn

from unclass.models.batch_norm import batch_norms, with_statistics


def test_batch_norms_of_every_kind_are_found_and_those_without_statistics_told_apart() -> None:
    kept = [nn.BatchNorm1d(2), nn.BatchNorm2d(2), nn.Sequential(nn.SyncBatchNorm(2))]
    model = nn.Sequential(*kept, nn.GroupNorm(1, 2), nn.InstanceNorm2d(2), nn.BatchNorm2d(2, track_running_stats=False))
    assert batch_norms(model) == [model[0], model[1], model[2][0], model[5]]
    assert with_statistics(model) == batch_norms(model)[:3]
