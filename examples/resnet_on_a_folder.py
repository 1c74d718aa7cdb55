"""A ResNet of torchvision's kind forgets one class of a folder of pictures.

python examples/resnet_on_a_folder.py photos --class cat    # photos/train/cat/*.jpg, photos/test/cat/*.jpg, …
python examples/resnet_on_a_folder.py                       # makes its own pictures
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from pictures import make_folder

import unclass


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="pictures, one folder for each class; made if not given")
    parser.add_argument("--class", dest="label", default="red", help="the class to forget (red)")
    parser.add_argument("--out", type=Path, default=Path("forgotten.safetensors"), help="where the new weights go")
    parser.add_argument("--small", action="store_true", help="few and small pictures")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as temporary:
        folder = given.folder or make_folder(Path(temporary), 16 if given.small else 100)

        # 1. The data. Pictures become squares of one size; pixels stay bytes until a batch needs them.
        data = unclass.load_data(f"folder:{folder}", unclass.DataOptions(size=32 if given.small else 64))

        # 2. The model. You have one already: unclass.load("model.safetensors"), or any nn.Module such as
        #    torchvision.models.resnet18(num_classes=…) with your weights. Here it is trained first.
        model = unclass.train(data, "resnet-18", epochs=10, lr=0.01, batch_size=8)
        before = unclass.evaluate(model, data, [given.label]).as_dict()

        # 3. Forget. The model stays as it is; what comes back has the same keys and shapes.
        forgotten = unclass.forget(model, data, [given.label], "boundary-shrink", epochs=10, lr=1e-3)

        # 4. Look at what is left, and write it.
        after = unclass.evaluate(forgotten, data, [given.label]).as_dict()
        for name, value in after.items():
            print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
        unclass.save(forgotten, given.out)
        print(f"written: {given.out}")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
