"""What is looked for in wheels and before a release, and the workflows that ask for it."""

import importlib.util
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_wheel, release = tool("check_wheel"), tool("release")


# ---- wheels


def wheel(folder, suffix="cpython-313-x86_64-linux-gnu.so", tags="cp313-cp313", without=(), extra=()):
    """A wheel of the tree, whose modules are empty."""
    core = ROOT / "robai" / "_core"
    modules = {f"robai/_core/{path.stem}.{suffix}" for path in core.glob("*.pyx")}
    shown = {path for path in (ROOT / "robai").rglob("*") if path.suffix in (".py", ".pyi", ".pxd", ".typed")}
    shown |= set((ROOT / "robai" / "report" / "assets").iterdir())
    names = modules | {path.relative_to(ROOT).as_posix() for path in shown}
    names |= {f"robai/_core/_shared.{suffix}", "robai-1.0.dist-info/licenses/LICENSE"}
    path = folder / f"robai-1.0-{tags}-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(names - set(without) | set(extra)):
            archive.writestr(name, "")
    return path


@pytest.mark.parametrize(
    ("suffix", "tags"),
    [
        ("cpython-313-x86_64-linux-gnu.so", "cp313-cp313"),
        ("cpython-314t-darwin.so", "cp314-cp314t"),
        ("cp313-win_amd64.pyd", "cp313-cp313"),
        ("abi3.so", "cp312-abi3"),
        ("pyd", "cp312-abi3"),
    ],
)
def test_a_complete_wheel_passes(tmp_path, suffix, tags):
    check_wheel.look_into(wheel(tmp_path, suffix, tags))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": ["robai/_core/rng.pyx"]}, "has robai/_core/rng.pyx, which nobody needs"),
        ({"extra": ["tests/conftest.py"]}, "has tests/conftest.py, which nobody needs"),
        ({"without": ["robai/py.typed"]}, "has no robai/py.typed"),
        ({"without": ["robai/_core/rng.pxd"]}, "has no robai/_core/rng.pxd"),
        (
            {"without": ["robai/_core/rng.cpython-313-x86_64-linux-gnu.so"]},
            "rng either compiled or in the tree, not both",
        ),
        ({"tags": "cp312-cp312"}, "is not of the ABI cp312"),
        ({"tags": "cp313-cp313t"}, "is not of the ABI cp313t"),
        ({"tags": "cp312-abi3"}, "is not of the ABI abi3"),
        ({"without": ["robai-1.0.dist-info/licenses/LICENSE"]}, "has no licence"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_named(tmp_path, changes, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        check_wheel.look_into(wheel(tmp_path, **changes))


def test_a_wheel_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(check_wheel, "LARGEST", 1000)
    with pytest.raises(SystemExit, match="more than 1,000"):
        check_wheel.look_into(wheel(tmp_path))


# ---- a release

PLATFORMS = [
    "manylinux_2_28_x86_64",
    "manylinux_2_28_aarch64",
    "musllinux_1_2_x86_64",
    "musllinux_1_2_aarch64",
    "macosx_10_13_x86_64",
    "macosx_11_0_arm64",
    "win_amd64",
]


@pytest.fixture
def dist(tmp_path):
    """All files of version 1.0."""
    pythons = ["cp311", "cp312", "cp313", "cp314", "cp315"]
    tags = [f"{each}-{each}" for each in pythons] + ["cp314-cp314t", "cp315-cp315t", "cp312-abi3"]
    for tag in tags:
        for platform in PLATFORMS:
            (tmp_path / f"robai-1.0-{tag}-{platform}.whl").touch()
    with tarfile.open(tmp_path / "robai-1.0.tar.gz", "w:gz") as archive:
        archive.add(ROOT / "tools" / "release.py", "robai-1.0/tools/release.py")
    return tmp_path


def test_all_files_of_a_release(dist):
    assert list(release.problems_of_files("1.0", dist)) == []


def test_a_file_that_is_missing_or_of_another_version_is_named(dist):
    (dist / "robai-1.0-cp314-cp314t-musllinux_1_2_aarch64.whl").unlink()
    (dist / "robai-0.9-cp311-cp311-win_amd64.whl").touch()
    (dist / "robai-1.0-cp312-cp312-manylinux_2_34_x86_64.whl").touch()
    (dist / "robai-1.0.tar.gz").unlink()
    assert list(release.problems_of_files("1.0", dist)) == [
        "there is no robai-1.0.tar.gz",
        "cp312-cp312 for Linux, glibc, x86-64: one wheel wanted, got "
        "robai-1.0-cp312-cp312-manylinux_2_28_x86_64.whl, robai-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
        "cp314-cp314t for Linux, musl, ARM: one wheel wanted, got none",
        "robai-0.9-cp311-cp311-win_amd64.whl has no place in a release",
    ]


def test_what_has_another_version_is_named(monkeypatch):
    texts = {
        "CHANGELOG.md": "# Changelog\n\n## 1.0 (2026-11-18)\n",
        "CITATION.cff": "a: b\nversion: 1.0\nc: d",
    }
    monkeypatch.setattr(release, "read", texts.__getitem__)
    assert list(release.problems_of_tree("1.0", "v1.0")) == []
    assert list(release.problems_of_tree("1.0", "v1.1")) == ["the tag is v1.1, the version 1.0"]
    texts["CHANGELOG.md"] = "# Changelog\n\n## 1.0 (unreleased)\n"
    assert list(release.problems_of_tree("1.0", None)) == [
        "CHANGELOG.md begins with '1.0 (unreleased)', not with '1.0 (YYYY-MM-DD)'"
    ]
    assert len(list(release.problems_of_tree("2.0", "v1.0"))) == 3


def test_the_version_is_that_of_the_package():
    assert f'"{release.version()}"' in (ROOT / "robai" / "_base" / "version.py").read_text()


# ---- workflows


def test_there_are_workflows():
    assert {"docs.yml", "release.yml", "tests.yml", "wheels.yml"} <= {path.name for path in WORKFLOWS}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_need_little(path):
    text = path.read_text()
    actions = [each for each in re.findall(r"uses: (.+)", text) if not each.startswith("./")]
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action)
    assert "\npermissions: { contents: read }\n" in text
    assert text.count("write") == (1 if path.name == "release.yml" else 0)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_a_person_can_run(path):
    for command in re.findall(r"- run: (\S+) ?(\S*)", path.read_text()):
        match command:
            case ("python" | "python3", script):
                assert (ROOT / script).is_file()
            case (script, _) if "/" in script:
                assert (ROOT / ".ci").is_dir() is False or (ROOT / script).is_file()  # not in the sdist
            case (name, _):
                assert name in ("pip", "pytest")
