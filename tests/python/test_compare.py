"""benches/compare.py: small workloads with every kind of output, with the libraries that the tests always have."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

COMPARE = Path(__file__).resolve().parents[2] / "benches" / "compare.py"


def test_families_are_measured_and_written(tmp_path):
    record, document, chart = (
        tmp_path / "record.json",
        tmp_path / "record.md",
        tmp_path / "chart.svg",
    )
    peaks = tmp_path / "peaks.json"
    kinds, sizes = ("read", "write", "triad"), (1 << 14, 1 << 28)
    ceilings = [
        {"kind": kind, "bytes": size, "threads": 1, "rate": 1e10}
        for kind in kinds
        for size in sizes
    ]
    peaks.write_text(json.dumps([*ceilings, {"kind": "fork-join", "threads": 2, "seconds": 1e-6}]))
    command = [
        sys.executable,
        COMPARE,
        "--peers",
        "flex,numpy",
        "--only",
        "call overhead",
        "--rounds",
        "1",
        "--roofline",
        peaks,
    ]
    command += [
        "--isa",
        "native",
        "--isa",
        "avx2",
        "--json",
        record,
        "--markdown",
        document,
        "--chart",
        chart,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    measured = {
        level: known["families"]["call overhead"]
        for level, known in json.loads(record.read_text())["levels"].items()
    }
    assert list(measured) == ["native", "avx2"]
    for rows in measured.values():
        assert all(row["errors"] == {} and set(row["seconds"]) == {"flex", "numpy"} for row in rows)
    add = next(row for row in measured["native"] if row["name"] == "add, 16")
    assert add["read"] == 2 * add["written"] == 128
    text = document.read_text()
    assert "| call overhead |" in text
    assert "| numpy |" in text
    assert "## Where flex is behind\n" in text
    assert "## Where flex is behind, AVX2\n" in text
    with document.with_suffix(".csv").open(newline="") as sheet:
        written = [row for row in csv.DictReader(sheet) if row["workload"] == "add, 16"]
    assert [row["level"] for row in written] == ["native", "avx2"]
    assert float(written[0]["flex"]) == pytest.approx(add["seconds"]["flex"], rel=0.01)
    assert ElementTree.parse(chart).getroot().tag.endswith("svg")


def test_functions_are_fused(tmp_path):
    record = tmp_path / "record.json"
    command = [sys.executable, COMPARE, "--peers", "flex,numpy", "--rounds", "1", "--json", record]
    command += ["--only", "fusion", "--match", "32x32"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(record.read_text())["levels"]["native"]["families"]["fusion"]
    assert row["errors"] == {}
    assert set(row["seconds"]) == {"flex", "numpy"}


def test_models_are_run(tmp_path):
    record = tmp_path / "record.json"
    command = [sys.executable, COMPARE, "--peers", "flex,onnxruntime", "--rounds", "1"]
    command += ["--json", record, "--only", "ONNX models", "--match", "LSTM"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(record.read_text())["levels"]["native"]["families"]["ONNX models"]
    assert row["errors"] == {}
    assert set(row["seconds"]) == {"flex", "onnxruntime"}
