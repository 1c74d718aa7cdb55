"""A vision transformer of Hugging Face's transformers forgets one class, and comes back as one.

python examples/transformers_vit.py my-vit photos --class cat    # a folder that save_pretrained wrote, and pictures
python examples/transformers_vit.py                              # a small one, trained here on made-up pictures
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from pictures import make_folder
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTForImageClassification

import unclass


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="what save_pretrained wrote; trained here if not given")
    parser.add_argument("folder", nargs="?", type=Path, help="pictures, one folder for each class; made if not given")
    parser.add_argument("--class", dest="label", default="red", help="the class to forget (red)")
    parser.add_argument("--out", type=Path, default=Path("forgotten-vit"), help="where the new folder goes")
    parser.add_argument("--small", action="store_true", help="few pictures and epochs")
    given = parser.parse_args(arguments)
    torch.manual_seed(0)
    small = ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                      image_size=32, patch_size=8, num_labels=4)  # fmt: skip
    model = ViTForImageClassification.from_pretrained(given.model) if given.model else ViTForImageClassification(small)
    with TemporaryDirectory() as temporary:
        folder = given.folder or make_folder(Path(temporary), 24 if given.small else 100)
        data = unclass.load_data(f"folder:{folder}", unclass.DataOptions(size=model.config.image_size))

    # Any Dataset of (x, y) will do, x as the model takes it: here with the processor's mean and deviation of 0.5.
    train, test = (TensorDataset((part.read(torch.arange(len(part))) / 255 - 0.5) / 0.5, part.labels)
                   for part in (data.train, data.test))  # fmt: skip
    images = unclass.image_data(train, test, data.classes)
    if not given.model:
        optimiser = torch.optim.AdamW(model.parameters(), 2e-3)
        for _ in range(60):
            for x, y in DataLoader(train, 16, shuffle=True):
                optimiser.zero_grad()
                model(x, labels=y).loss.backward()
                optimiser.step()

    before = unclass.evaluate(model, images, [given.label]).as_dict()
    forgotten = unclass.forget(model, images, [given.label])
    after = unclass.evaluate(forgotten, images, [given.label]).as_dict()
    for name, value in after.items():
        print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
    forgotten.save_pretrained(given.out)
    print(f"written: {given.out}")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
