"""Files are written whole or not at all, and a checkout is known by both of its marks."""

from pathlib import Path

import pytest

from claimbook import files


def test_a_checkout_has_both_marks(tmp_path):
    checkout = tmp_path / "checkout"
    for folder in ("book", "notes/deep", "notes/book"):
        (checkout / folder).mkdir(parents=True)
    for folder in ("", "notes/deep"):
        (checkout / folder / "_toc.yml").touch()
    assert files.book_root(checkout / "notes" / "deep") == checkout  # each mark alone is none
    assert files.book_root(tmp_path) == Path(files.__file__).resolve().parents[1]


@pytest.mark.parametrize("step", ["write_bytes", "replace"])
def test_a_write_that_is_broken_off_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, step
):
    target = tmp_path / "made" / "file"
    files.write_atomically(target, "old" * 1000)

    def broken(path, *_):
        path.write_text("half")
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, step, broken)
        with pytest.raises(OSError, match="the disk is full"):
            files.write_atomically(target, "new text")
    assert target.read_text() == "old" * 1000
    assert list(target.parent.iterdir()) == [target]
    for content in ("new text", b"new bytes"):
        files.write_atomically(target, content)
        assert target.read_bytes() == (content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a: 1\nb: "open\n', r'quoted scalar\n.*", line 2.*end of stream\n.*_toc\.yml", line 3'),
        ("a: 1\nb: 2\na: 3\n", r"the key 'a' is written twice\n.*line 3"),
        ("a: \x07\n", "control characters"),
        ("a: !!python/name:os.system\n", r"could not determine a constructor .*\n.*line 1"),
    ],
)
def test_a_file_that_is_no_yaml_or_no_json_is_named_with_the_line(tmp_path, text, words):
    broken = tmp_path / "_toc.yml"
    broken.write_text(text)
    with pytest.raises(ValueError, match=f"(?s)^_toc.yml is no YAML: .*{words}"):
        files.read_yaml(broken)
    with pytest.raises(ValueError, match=r"_toc\.yml is no JSON: "):
        files.read_json(broken)
    broken.write_text("a: 1\n")
    assert files.read_yaml(broken) == {"a": 1}
