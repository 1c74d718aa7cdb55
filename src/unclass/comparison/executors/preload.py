"""What every piece of a comparison imports sooner or later: seconds that are spent once, before processes fork."""

import sklearn.datasets
import sklearn.linear_model
import sklearn.pipeline
import sklearn.preprocessing  # noqa: F401
import torch

import unclass.comparison.worker  # noqa: F401

torch.optim.SGD([torch.zeros(1, requires_grad=True)])  # the first optimiser imports the compiler that it might meet
