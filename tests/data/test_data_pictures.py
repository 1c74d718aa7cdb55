import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from unclass.data.batches import Batches
from unclass.data.options import DataOptions
from unclass.data.pictures import Decoded, Files, load_images, open_picture
from unclass.data.pictures import decode as decode_image
from unclass.errors import InputError


def write_images(folder, count, side=8):
    """Write images of one grey each: image i has the value 10 · i."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.png" for number in range(count)]
    for number, path in enumerate(paths):
        Image.new("RGB", (side, side), (number * 10,) * 3).save(path)
    return paths


def decode(path, size, channels=3):
    with Image.open(path) as image:
        return decode_image(image, (channels, size, size))


def load(paths, labels, options):
    return load_images(Files.of(paths), torch.tensor(list(labels)), options)


def streamed_files(paths, size):
    return Decoded(Files.of(paths), (3, size, size))


def test_short_side_is_scaled_and_the_centre_kept(tmp_path):
    stripes = np.zeros((10, 30, 3), np.uint8)
    stripes[:, 10:20] = (255, 128, 0)
    Image.fromarray(stripes).save(tmp_path / "wide.png")
    pixels = decode(tmp_path / "wide.png", 4)
    assert pixels.shape == (3, 4, 4)
    assert pixels[:, 1, 1].tolist() == [255, 128, 0]
    assert decode(tmp_path / "wide.png", 10).flatten(1).unique(dim=1).flatten().tolist() == [255, 128, 0]


def test_image_of_the_right_size_is_kept_bit_for_bit(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    assert torch.equal(decode(tmp_path / "a.png", 9), torch.from_numpy(pixels).permute(2, 0, 1))


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1", "CMYK", "I;16"])
def test_every_mode_becomes_three_channels_of_white(tmp_path, mode):
    white = Image.new("RGB", (6, 6), "white")
    image = Image.fromarray(np.full((6, 6), 65535, np.uint16)) if mode == "I;16" else white.convert(mode)
    path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    image.save(path)
    assert decode(path, 6).flatten(1).float().mean(1).tolist() == [255, 255, 255]


def test_sixteen_bit_grey_keeps_its_shades(tmp_path):
    shades = np.array([[0, 32896], [65535, 257]], np.uint16)
    Image.fromarray(shades).save(tmp_path / "a.png")
    assert decode(tmp_path / "a.png", 2)[0].tolist() == [[0, 128], [255, 1]]


def test_image_is_turned_as_its_exif_says(tmp_path):
    picture = Image.new("RGB", (8, 8), "black")
    picture.paste("white", (0, 0, 8, 4))
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    picture.save(tmp_path / "a.png", exif=exif)
    assert decode(tmp_path / "a.png", 8)[0, :, 0].tolist() == [0] * 4 + [255] * 4


def test_streamed_pixels_equal_those_in_memory(tmp_path):
    paths = write_images(tmp_path, 5)
    inside = load(paths, range(5), DataOptions(size=4))
    streamed = load(paths, range(5), DataOptions(size=4, memory_budget=5 * 3 * 4 * 4 - 1))
    assert isinstance(inside.source, torch.Tensor)
    assert isinstance(streamed.source, Decoded)
    rows = torch.tensor([3, 0, 3])
    assert torch.equal(inside.read(rows), streamed.read(rows))
    assert inside.read(rows)[:, 0, 0, 0].tolist() == [30, 0, 30]


def test_budget_that_just_suffices_is_used(tmp_path):
    images = load(write_images(tmp_path, 5), range(5), DataOptions(size=4, memory_budget=5 * 3 * 4 * 4))
    assert isinstance(images.source, torch.Tensor)


def test_workers_read_streamed_files_in_order(tmp_path):
    images = load(write_images(tmp_path, 6), range(6), DataOptions(memory_budget=0))
    batches = list(Batches(images, 2, workers=1))
    assert torch.cat([y for _, y in batches]).tolist() == list(range(6))
    assert (torch.cat([x for x, _ in batches])[:, 0, 0, 0] * 255).round().tolist() == [0, 10, 20, 30, 40, 50]


def test_source_survives_pickling(tmp_path):
    files = streamed_files(write_images(tmp_path, 2), 8)
    assert torch.equal(pickle.loads(pickle.dumps(files))[torch.tensor([1])], files[torch.tensor([1])])


def test_without_a_size_the_first_readable_image_gives_it(tmp_path):
    (tmp_path / "0.png").write_text("broken")
    Image.new("RGB", (12, 7)).save(tmp_path / "1.png")
    Image.new("RGB", (30, 20)).save(tmp_path / "2.png")
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    assert load(paths, [0, 1, 1], DataOptions(skip_bad=True)).shape == (3, 7, 7)


@pytest.mark.parametrize("budget", [0, 1 << 20])
def test_unreadable_images_are_counted_and_named(tmp_path, budget):
    paths = write_images(tmp_path / "cat", 3) + write_images(tmp_path / "dog", 2)
    paths[1].write_text("not an image")
    paths[4].write_bytes(b"")
    options = DataOptions(memory_budget=budget)
    with pytest.raises(InputError, match=r"^2 of 5 images cannot be read: cat/1.png, dog/1.png; repair .*`skip_bad`$"):
        load(paths, [0, 0, 0, 1, 1], options)
    kept = load(paths, [0, 0, 0, 1, 1], replace(options, skip_bad=True))
    assert kept.places.tolist() == [0, 2, 3]
    assert kept.labels.tolist() == [0, 0, 1]
    assert kept.read(torch.arange(3))[:, 0, 0, 0].tolist() == [0, 20, 0]


def test_long_list_of_unreadable_images_is_cut(tmp_path):
    paths = write_images(tmp_path, 9)
    for path in paths[1:]:
        path.write_text("")
    with pytest.raises(InputError, match=r"8 of 9 images cannot be read: 1.png, 2.png, 3.png, 4.png, 5.png, …; repair"):
        load(paths, [0] * 9, DataOptions())


@pytest.mark.parametrize("size", [(1, 100_000), (100_000, 1), (9000, 9000)])
def test_picture_that_is_too_long_or_too_large_is_refused_before_it_is_decoded(tmp_path, size):
    Image.new("1", size).save(tmp_path / "0.png")
    with pytest.raises(InputError, match="is too large; scale it down"):
        open_picture(tmp_path / "0.png")


def test_nothing_but_unreadable_images_is_an_error_even_when_skipping(tmp_path):
    (tmp_path / "a.png").write_text("")
    for size, problem in ((None, "none of the 1 images can be read"), (8, "1 of 1 images cannot be read")):
        with pytest.raises(InputError, match=problem):
            load([tmp_path / "a.png"], [0], DataOptions(skip_bad=True, size=size))


def test_truncated_image_is_found_when_decoding(tmp_path):
    paths = write_images(tmp_path, 2)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "long.jpg")
    whole = (tmp_path / "long.jpg").read_bytes()
    (tmp_path / "long.jpg").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"1 of 3 images cannot be read: long.jpg"):
        load([*paths, tmp_path / "long.jpg"], [0, 0, 1], DataOptions())
    with pytest.raises(InputError, match=r"long.jpg cannot be read .*; repair it, remove it or add `skip_bad`"):
        streamed_files([tmp_path / "long.jpg"], 8)[torch.tensor([0])]


def test_digest_of_streamed_files_follows_names_sizes_and_scale_but_not_the_folder(tmp_path):
    def digest(folder, **changes):
        images = load(sorted((tmp_path / folder).iterdir()), [0, 1], DataOptions(memory_budget=0, **changes))
        return images.digest

    write_images(tmp_path / "a", 2)
    write_images(tmp_path / "b", 2)
    assert digest("a") == digest("b")
    assert digest("a") != digest("a", size=4)
    (tmp_path / "b" / "1.png").rename(tmp_path / "b" / "2.png")
    assert digest("a") != digest("b")


def test_progress_walks_through_every_image(tmp_path):
    seen = []

    def track(items, what, total, start=0):
        for item in items:
            seen.append(total)
            yield item

    load(write_images(tmp_path, 4), [0] * 4, DataOptions(progress=track))
    assert seen == [4] * 4
