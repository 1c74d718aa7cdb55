"""A person asks for erasure: forget them from their own photos alone. Nobody else's are needed.

python examples/forget_one_person.py model.safetensors her-photos --class n000123
python examples/forget_one_person.py                       # a small model, trained here on made-up people
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from pictures import make_folder

import unclass


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="checkpoint; a small one is trained if not given")
    parser.add_argument("photos", nargs="?", type=Path, help="folder with the person's photos, nothing else")
    parser.add_argument("--class", dest="label", default="red", help="the person, as the model calls them (red)")
    parser.add_argument("--out", type=Path, default=Path("without.safetensors"), help="where the new weights go")
    parser.add_argument("--small", action="store_true", help="few pictures and epochs")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as temporary:
        everyone = None
        if given.model:
            model, photos = unclass.load(given.model), given.photos
        else:
            people = make_folder(Path(temporary), 20 if given.small else 100)
            everyone = unclass.load_data(f"folder:{people}")
            model = unclass.train(everyone, "small-cnn", epochs=10 if given.small else 20, lr=0.1, batch_size=16)
            photos = people / "train" / given.label

        # The folder holds one person's photos and the model knows its classes: that is all there is to it.
        found = unclass.forget(model, f"folder:{photos}", [given.label], "boundary-shift", forget_only=True)
        unclass.save(found, given.out)

        # Whether others were harmed can only be seen where there are images of others.
        images = f"folder:{photos}" if everyone is None else everyone
        before, after = (
            unclass.evaluate(one, images, [given.label], forget_only=everyone is None).as_dict()
            for one in (model, found)
        )
        for name, value in after.items():
            print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
        print(f"written: {given.out}")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
