"""The words of this project, each explained once: help, reports and docs/glossary.md all take them from here."""

import re

from unclass.errors import unknown

GLOSSARY: dict[str, str] = {
    "accuracy": "The share of images that a model puts into the right class.",
    "activation distance": "How far apart two models' probabilities for the same images are: 0 where they are equal.",
    "architecture": "The kind of network: which layers it has and how they are joined, without the weights.",
    "ASR": "Attack success rate, the paper's measure of privacy: the share of the forgotten images that an attacker "
    "still takes for training images. Good is not 0 but what a retrained model has.",
    "AUC": "Area under the curve: how often a score puts an image of one group above an image of the other. "
    "0.5 is guessing, 1 tells them apart every time.",
    "audit": "A set of checks that ask whether a class is really gone and the rest unharmed. It ends in a verdict.",
    "batch norm": "Batch normalisation, a layer that shifts and scales what passes through it by running statistics.",
    "boundary": "Where a network changes its mind from one class to another. Boundary methods move it, so that images "
    "of the forgotten class fall on the side of the classes that stay.",
    "card": "What a checkpoint says of itself: architecture, class names, picture size, normalisation, how it was "
    "trained and what it has forgotten. It lies in the metadata of the safetensors file.",
    "carries the verdict": "Said of the few checks that decide; all others are shown to help understand them.",
    "checkpoint": "A file with a network's weights. Ours are safetensors with a card.",
    "CKA": "Centred kernel alignment: how alike two networks see the same images inside a layer, from 0 to 1.",
    "class": "What a classifier can answer: a thing, a person, a digit. The data set gives each image one.",
    "control": "A model of which the right answer is known in advance. The audit must fail a logit mask and "
    "head-only, which only hide the class.",
    "D_f": "The images to forget: training images of the forgotten class, or those that a forget list names. "
    "A good unlearned model no longer recognises them as their class.",
    "D_ft": "Test images of the forgotten class: the model has never seen them.",
    "D_r": "The training images that stay (retain).",
    "D_rt": "Test images of the classes that stay. Accuracy on them shows whether the rest of the model is unharmed.",
    "digest": "A code computed from the bytes of a file (SHA-256): the same code, the same file.",
    "entropy": "How unsure an answer is: 0 where all probability lies on one class, most where all classes are alike.",
    "epoch": "One round of training through all images.",
    "epsilon": "ε, how far an attack may change a pixel, where pixels go from 0 to 1.",
    "erasure request": "Somebody's demand to be forgotten, with the day by which it is due.",
    "evidence pack": "What was erased, how and with what verdict, in a folder or zip that is signed: any change shows.",
    "features": "The numbers that a network has made of an image when it reaches the head.",
    "FGSM": "Fast gradient sign method: one step that changes an image so that the network mistakes it for another "
    "class. Boundary Shrink uses it to find the nearest class. PGD takes several smaller steps.",
    "Fisher information": "How much a weight matters to the images that stay. Fisher Forgetting adds noise to the "
    "weights that matter little.",
    "forget list": "A file that names single images to forget, where the rest of their class stays.",
    "forget-only": "Working with nothing but the images to forget, where all others are no longer there.",
    "Grad-CAM": "A map of where in a picture a network finds what speaks for a class.",
    "head": "The last layer of a network. It has one row of weights for each class and turns features into logits.",
    "head-only": "A control: the head alone is trained until the class is never named. Every feature still knows it.",
    "IDI": "Information difference: how much more the layers tell about the erased class than a retrained model's "
    "do, from 0 (as retrained) to 1 (as the original).",
    "interval": "Where a figure would lie with other images of the same kind, 95 times of 100. A check passes or "
    "fails only with its whole interval.",
    "JS divergence": "Jensen–Shannon divergence, a distance between the answers of two models, from 0 (equal) to 0.69.",
    "K": "The number of classes. Guessing is right for one image in K.",
    "ledger": "The file that keeps models in versions, erasure requests and what became of them.",
    "likeness": "How alike the features of the erased images are in the unlearned and the original model (CKA): 1 "
    "where nothing was forgotten before the head.",
    "limit": "The value up to which a check passes. Where it can, it comes from retrained models on the same data.",
    "linear probe": "A new head trained on the features: how much they still know of the class.",
    "logit": "A network's score for a class. The highest of an image's logits is the answer; softmax turns them into "
    "probabilities.",
    "logit mask": "Lowering the logit of one class so that it is never the answer. It hides the class and forgets "
    "nothing, so it serves as a control.",
    "McNemar test": "Whether two models that saw the same images differ by more than chance: only images count that "
    "one of them gets right and the other does not.",
    "member": "An image that the model was trained on. A membership inference attack tells members from others.",
    "method": "A way to make a model forget, such as boundary-shift or finetune. `unclass methods` lists them.",
    "nats": "The unit of entropy and of divergences, with natural logarithms.",
    "nearest class mean": "Giving an image the class whose mean features are nearest to its own, without the head.",
    "neighbour-class attack": "Telling training images of the erased class from its test images by what the model "
    "says of the nearest classes.",
    "noise band": "How far retrained models with different seeds are apart. Closer than that is no difference.",
    "normalisation": "Subtracting a mean from pixels and dividing by a standard deviation before the first layer. Our "
    "checkpoints do it themselves and take pixels from 0 to 1.",
    "original": "The trained model before anything was forgotten. It is never changed.",
    "own logit": "The logit of the forgotten class, compared with the mean of the others. If it still rises for images "
    "of that class, the class is hidden, not gone.",
    "population attack": "Telling the forgotten training images from test images of the same class by the outputs. "
    "A model that was never trained on them cannot treat them differently.",
    "preset": "Named settings of a method: `paper`, `authors`, or those that were measured on a data set.",
    "prototype attack": "Writing the mean features of a few images into the head's row of the class, to see whether it "
    "is found again.",
    "recalibration": "Computing the batch-norm statistics anew from images that stay, without labels and without "
    "training. It brings a class back that was only forgotten in those statistics.",
    "record": "The JSON file beside every result: command, options, seeds, versions, hardware, digests and scores.",
    "relearning": "Training an unlearned model for a few steps and watching how fast the class comes back.",
    "retain": "To keep. The retain images are those of the classes that stay.",
    "retrained": "A model trained from scratch without the forgotten images. It is what forgetting should come near "
    "to, so every score is read beside its own.",
    "RMIA": "Robust membership inference attack: compares each image with others of the same kind.",
    "running statistics": "The mean and variance that a batch norm has collected in training and uses afterwards.",
    "safetensors": "A file format for weights that cannot run code when it is opened.",
    "seed": "The number that all random choices follow from. Same seed, same result.",
    "self-check": "Whether the audit can fail on this data: it must fail the original and the controls, and pass every "
    "retrained model. Otherwise it says undecided.",
    "shadow class": "An extra class that Boundary Expanding sends the forgotten images to, and then cuts off.",
    "shadow model": "A further model trained so that an attack can learn what members look like.",
    "speed-up": "How many times faster a method was than retraining in the same run.",
    "stem": "The layers of a network before the tail. Boundary Shift leaves them as they are.",
    "t-SNE": "A drawing of many numbers in two dimensions: what is near stays near, far distances mean little.",
    "tail": "The last layers of a network, which Boundary Shift trains: at most a tenth of the work.",
    "temperature": "τ, by which logits are divided before softmax. Below 1 it makes answers more certain.",
    "TPR at 1 % FPR": "The share of training images that an attack names while one in a hundred others is named too.",
    "U-LiRA": "A likelihood-ratio attack on unlearning with shadow models; strong and slow.",
    "unlearned": "The model after a method has made it forget.",
    "updates": "What each training step added to the weights. Amnesiac Unlearning needs them recorded in training.",
    "verdict": "What an audit ends in: passed, failed, or undecided with the reason.",
    "ZRF": "Zero-retrain forgetting: how near the answers on D_f are to those of an untrained network, which stands in "
    "for a retrained one.",
}

INTRODUCTION = """# Glossary

Every short word that the tables, reports and pages use. On the command line: `unclass glossary`, or one word,
`unclass glossary ASR`. This page is made from `src/unclass/report/glossary.py`:
`unclass glossary --markdown > docs/glossary.md`.
"""


def explain(word: str) -> str:
    """Return what a word means, however it is written: `D_f`, `d_f`, `Batch-Norm`.

    >>> explain("d_r")
    'The training images that stay (retain).'
    """
    known = {_plain(name): name for name in GLOSSARY}
    if _plain(word) not in known:
        raise unknown("word", word, GLOSSARY)
    return GLOSSARY[known[_plain(word)]]


def anchor(word: str) -> str:
    """Return where a word stands on the glossary's page.

    >>> anchor("batch norm"), anchor("U-LiRA")
    ('batch-norm', 'u-lira')
    """
    return re.sub(r"\s+", "-", word.lower())


def as_markdown() -> str:
    """Return the page docs/glossary.md."""
    return INTRODUCTION + "".join(f"\n## {word}\n\n{meaning}\n" for word, meaning in GLOSSARY.items())


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "-", word.strip().lower())
