import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from unclass.data.sets.download import CHUNK, download
from unclass.errors import InputError

CONTENT = bytes(range(256)) * 10_000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT: from the byte asked for, always whole at /whole, and only half of it at /broken."""

    def do_GET(self):
        given = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(given[1]) if given and self.path != "/whole" else 0
        self.server.starts.append(start)
        if self.path == "/missing":
            return self.send_error(404)
        if start >= len(CONTENT):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start : len(CONTENT) // 2 if self.path == "/broken" else None])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.starts = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_file_arrives_whole_and_leaves_no_part_behind(server, tmp_path):
    path = tmp_path / "new" / "file.gz"
    assert download(f"{server.url}/file", path, MD5) == path
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["file.gz"]


def test_download_continues_where_the_part_ends(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT[:1_000_000])
    assert download(f"{server.url}/file", tmp_path / "file", MD5).read_bytes() == CONTENT
    assert server.starts == [1_000_000]


def test_server_that_cannot_resume_sends_the_file_from_the_start(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    assert download(f"{server.url}/whole", tmp_path / "file", MD5).read_bytes() == CONTENT


def test_complete_part_is_not_fetched_again(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    assert download(f"{server.url}/file", tmp_path / "file", MD5).read_bytes() == CONTENT


def test_broken_connection_keeps_the_part_for_the_next_attempt(server, tmp_path):
    with pytest.raises(InputError, match="broke off after 1,280,000 of 2,560,000 bytes; run the same command again"):
        download(f"{server.url}/broken", tmp_path / "file", MD5)
    assert not (tmp_path / "file").exists()
    assert download(f"{server.url}/file", tmp_path / "file", MD5).read_bytes() == CONTENT
    assert server.starts == [0, 1_280_000]


def test_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(InputError, match=f"MD5 {MD5}, not {'0' * 32}"):
        download(f"{server.url}/file", tmp_path / "file", "0" * 32)
    assert list(tmp_path.iterdir()) == []


def test_missing_file_is_named_with_the_answer_of_the_server(server, tmp_path):
    with pytest.raises(InputError, match=r"cannot download http://.*/missing \(404 Not Found\)"):
        download(f"{server.url}/missing", tmp_path / "file", MD5)


def test_without_a_network_the_error_says_what_to_do(server, tmp_path):
    server.server_close()
    with pytest.raises(InputError, match=r"cannot download http://127.* give its folder with `root`$") as caught:
        download(f"{server.url}/file", tmp_path / "file", MD5)
    assert "\n" not in str(caught.value)


def test_progress_counts_megabytes_from_where_it_resumes(server, tmp_path):
    seen = []

    def track(items, what, total, start=0):
        seen.append((what, total, start))
        return iter(items)

    (tmp_path / "file.gz.part").write_bytes(CONTENT[: CHUNK + 5])
    download(f"{server.url}/file", tmp_path / "file.gz", MD5, track)
    assert seen == [("downloading file.gz (MB)", 3, 1)]
