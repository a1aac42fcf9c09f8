"""The bound on memory is held, on one line of twenty megabytes with more n-grams than fit."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

CODE = """
import sys
from pathlib import Path
from disambig.counts.counter import LEAST_MEMORY, NgramCounter
from disambig.counts.build import count_texts
from disambig.counts.inputs import TextFiles
from disambig.text.tokenisations import Words
with NgramCounter(Words.name, memory=LEAST_MEMORY) as counter:
    count_texts(counter, TextFiles([sys.argv[1]]), Words())
    total = sum(int(counts.sum()) for _, counts, _ in counter.partitions())
    print(counter.spilled, total == sum(counter.totals), counter.totals[0], LEAST_MEMORY)
# getrusage would tell of the process that started this one, too
status = Path("/proc/self/status").read_text()
print(1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc/self/status on this system")
def test_bound_is_held(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["w" + chr(97 + i % 26) * (1 + i // 26 % 3) + chr(97 + i // 78) for i in range(2000)])
    line = " ".join(words[rng.integers(0, len(words), 4_000_000)])
    (tmp_path / "x.txt").write_text(line)
    command = [sys.executable, "-c", CODE, str(tmp_path / "x.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    spilled, whole, tokens, bound, peak = done.stdout.split()
    assert len(line) > 15_000_000
    assert int(tokens) >= 4_000_000
    assert int(spilled) >= 5
    assert whole == "True"
    assert int(peak) < int(bound)


IMPORT = """
import sys
from pathlib import Path
from disambig.counts.counter import LEAST_MEMORY
from disambig.counts.importing import import_table
import_table(sys.argv[2], [(sys.argv[1], 0)], "web1t.v1", memory=LEAST_MEMORY)
status = Path("/proc/self/status").read_text()
print(LEAST_MEMORY, 1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc/self/status on this system")
def test_bound_is_held_by_imports(tmp_path):
    with open(tmp_path / "x.tsv", "w") as file:
        for begin in range(0, 6_000_000, 100_000):
            file.writelines(f"in {i}\t{i % 90 + 1}\n" for i in range(begin, begin + 100_000))
    command = [sys.executable, "-c", IMPORT, str(tmp_path / "x.tsv"), str(tmp_path / "x.counts")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    bound, peak = map(int, done.stdout.split())
    assert peak < bound


JOB = """
import sys
from pathlib import Path
from disambig.counts.counter import LEAST_MEMORY
from disambig.jobs.counting import JobPlace, build_in_job
place = JobPlace(Path(sys.argv[2]) / "job")
build_in_job(Path(sys.argv[2]) / "x", [sys.argv[1]], ["disambig.words.v1"], place, memory=LEAST_MEMORY)
status = Path("/proc/self/status").read_text()
print(LEAST_MEMORY, 1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc/self/status on this system")
def test_bound_is_held_by_jobs(tmp_path):
    rng = np.random.default_rng(0)
    with open(tmp_path / "x.txt", "w") as file:
        for _ in range(60):
            file.write(" ".join(map(str, rng.integers(0, 1 << 40, 1_000))) + " w")
            file.write(
                " w".join(chr(97 + i % 26) * (1 + i // 26) for i in rng.integers(0, 300, 100_000)) + "\n"
            )
    command = [sys.executable, "-c", JOB, str(tmp_path / "x.txt"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    bound, peak = map(int, done.stdout.split())
    assert peak < bound
    assert list((tmp_path / "job").glob("*.runs"))
