"""One round: a plan, attempts at its parts, disturbances, commits, and the checks after them."""

from __future__ import annotations

import collections
import json
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from stage import PARTS, Ended, Stage, wrong

ATTEMPTS = 2  # at each part, at once
REFUSED, BAD_DATA, IO = 73, 65, 74
PLAN = ("--plan", "plan.json")


class Round:
    """A round; play it once."""

    def __init__(self, stage: Stage, took: float, counts: collections.Counter[str]) -> None:
        self.stage, self.chance, self.took, self.counts = stage, stage.chance, took, counts
        self.problems: list[str] = []
        self.lock = threading.Lock()
        self.stopped: list[subprocess.Popen[str]] = []
        self.committed = self.aborted = False

    @property
    def failed(self) -> bool:
        return bool(self.problems)

    def say(self, what: str) -> None:
        """Note a wrong outcome."""
        with self.lock:
            self.problems.append(what)

    def count(self, what: str, by: int = 1) -> None:
        with self.lock:
            self.counts[what] += by

    def demand(self, condition: object, what: str) -> None:
        if not condition:
            self.say(what)

    def play(self) -> list[str]:
        """Play the round; returns the wrong outcomes."""
        stage = self.stage
        plan = json.loads(stage.make_plan("plan.json", "--rows-per-part", str(stage.per_part)).read_text())
        self.names = stage.names(plan["plan_id"])
        self.withheld = self.chance.randrange(PARTS) if self.chance.random() < 0.4 else None
        self.changing = self.changed = self.chance.random() < 0.25
        ended = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(ended,))
        watcher.start()
        try:
            self.attempt_all()
            if self.withheld is not None:
                self.refused()
            if self.chance.random() < 0.1:
                self.start_again()
            self.complete()
            self.commit_all()
            if self.committed:
                self.after()
        finally:
            ended.set()
            watcher.join()
            for process in self.stopped:
                process.kill()
                process.communicate()
        return self.problems

    def watch(self, ended: threading.Event) -> None:
        """List the target all the time, as a reader: it is absent, or it has all its files."""
        while not ended.wait(0.003):
            try:
                found = {path.name for path in self.stage.target.iterdir()}
            except FileNotFoundError:
                continue
            if found != self.names:
                self.say(f"a reader saw {sorted(found)}")
                return

    def attempt_all(self) -> None:
        """Run two attempts at each part, most of them at once, with disturbances."""
        chance, span = self.chance, 8 * self.took
        jobs = []
        for index in [*range(PARTS)] * ATTEMPTS:
            if index != self.withheld:
                kill = chance.uniform(0, 1.2 * self.took) if chance.random() < 0.5 else None
                stop = chance.uniform(0, 2 * self.took) if kill is None and chance.random() < 0.12 else None
                jobs.append((self.attempt, chance.uniform(0, span), index, kill, stop))
        if chance.random() < 0.5:
            jobs.append((self.early_commit, chance.uniform(0, span)))
        if chance.random() < 0.3:
            jobs.append((self.edited_plan, chance.uniform(0, span)))
        if self.changing:
            jobs.append((self.change_input, 0, span))
        with ThreadPoolExecutor(len(jobs)) as pool:
            for done in [pool.submit(self.later, *job) for job in jobs]:
                done.result()

    def later(self, do, delay: float, *arguments: object) -> None:
        time.sleep(delay)
        do(*arguments)

    def attempt(self, index: int, kill: float | None = None, stop: float | None = None) -> None:
        """Make a part; kill it, or stop it until the table is committed."""
        arguments = ("convert", *PLAN, "--part", str(index))
        self.count("attempts")
        if stop is None:
            self.attempted(self.stage.run(*arguments, kill=kill))
            return
        process = self.stage.start(*arguments)
        try:
            process.wait(timeout=stop)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGSTOP)
            with self.lock:
                self.stopped.append(process)
            return
        text, _ = process.communicate()
        self.attempted(Ended(arguments, process.returncode, text))

    def attempted(self, done: Ended, late: bool = False) -> None:
        """Check how an attempt ended."""
        if done.killed:
            self.count("attempts killed")
            return
        may = {0, BAD_DATA, IO} if self.changing or late and self.changed else {0}
        if late and self.aborted:
            may.add(REFUSED)
        if done.code in (BAD_DATA, IO):
            self.count(f"attempts refused, {done.code}: the input changed")
        self.demand(done.code in may, f"{' '.join(done.arguments)}: exit code {done.code}: {done.text.strip()}")

    def change_input(self, span: float) -> None:
        """Change a byte of an input for some moments, several times."""
        until = time.monotonic() + span
        while time.monotonic() < until:
            path = self.stage.inputs[self.chance.choice(["image", "label", "row"])]
            with path.open("r+b", buffering=0) as file:
                at = self.chance.randrange(20, path.stat().st_size)
                file.seek(at)
                byte = file.read(1)
                for value in (bytes([byte[0] ^ 1]), byte):
                    file.seek(at)
                    file.write(value)
                    time.sleep(self.chance.uniform(0, self.took))
            self.count("changes of an input")

    def edited_plan(self) -> None:
        """An attempt with an edited plan is refused."""
        plan = json.loads((self.stage.folder / "plan.json").read_text())
        part = plan["targets"][0]["parts"][-1]
        part["pieces"] = part["pieces"][::-1]
        (self.stage.folder / "edited.json").write_text(json.dumps(plan))
        done = self.stage.run("convert", "--plan", "edited.json", "--part", str(PARTS - 1))
        self.count("attempts refused, 65: the plan was edited")
        self.demand(done.code == BAD_DATA, f"an edited plan: exit code {done.code}, expected {BAD_DATA}: {done.text.strip()}")

    def early_commit(self) -> None:
        """Commit while attempts run: all or nothing."""
        done = self.stage.run("commit", *PLAN)
        self.count("commits too early")
        if done.code == REFUSED:
            self.count("commits refused, 73: parts were missing")
            self.demand(" missing: " in done.text, f"a commit too early: {done.text.strip()}")
            self.demand(not self.stage.target.exists(), "a commit was refused, and the table is there")
        else:
            self.demand(done.code == 0, f"a commit too early: exit code {done.code}: {done.text.strip()}")
            self.demand(self.withheld is None, "a commit without a part succeeded")

    def refused(self) -> None:
        """A commit without a part ends with 73, and there is no table."""
        missing = self.stage.missing()
        self.demand(self.withheld in missing, f"status lists {missing} as missing, not {self.withheld}")
        done = self.stage.run("commit", *PLAN)
        self.count("commits refused, 73: parts were missing")
        self.demand(done.code == REFUSED, f"a commit without part {self.withheld}: exit code {done.code}: {done.text.strip()}")
        self.demand(not self.stage.target.exists(), "a commit was refused, and the table is there")

    def start_again(self) -> None:
        """Abort while only stopped attempts are left."""
        self.stage.must("abort", *PLAN)
        self.aborted = True
        self.count("aborts")
        if not self.stage.target.exists():
            self.demand(self.stage.missing() == [*range(PARTS)], "after abort, parts are there")

    def complete(self) -> None:
        """Run missing parts until none is missing, as a user does; some of these are killed too."""
        self.changing = False
        for again in range(20):
            missing = self.stage.missing()
            if not missing:
                return
            self.count("parts run again", len(missing))
            with ThreadPoolExecutor(len(missing)) as pool:
                for index in missing:
                    pool.submit(self.attempt, index, self.chance.uniform(0, 1.2 * self.took) if again < 3 and self.chance.random() < 0.4 else None)
        self.say("parts are missing after 20 runs")

    def commit_all(self) -> None:
        """Commit, sometimes twice at once, sometimes killed, until it succeeds; meanwhile the stopped attempts
        continue."""
        late = threading.Thread(target=self.go_on, args=(self.chance.uniform(0, 4 * self.took),))
        late.start()
        for again in range(20):
            kills = [self.chance.uniform(0, self.took) if again < 5 and self.chance.random() < 0.4 else None for _ in range(self.chance.choice([1, 2]))]
            with ThreadPoolExecutor(2) as pool:
                results = [*pool.map(lambda kill: self.stage.run("commit", *PLAN, kill=kill), kills)]
            self.count("commits", len(results))
            self.count("commits two at once", len(results) - 1)
            for done in results:
                self.count("commits killed", done.killed)
                self.demand(done.code == 0 or done.killed, f"a commit of all parts, {len(results)} at once: exit code {done.code}: {done.text.strip()[:300]}")
            if any(done.code == 0 for done in results):
                self.committed = True
                break
        late.join()
        self.demand(self.committed, "no commit succeeded")

    def go_on(self, delay: float) -> None:
        """Let the stopped attempts continue."""
        time.sleep(delay)
        for process in self.stopped:
            process.send_signal(signal.SIGCONT)
        for process in self.stopped:
            text, _ = process.communicate(timeout=60)
            self.count("late writers")
            self.attempted(Ended(("a late writer",), process.returncode, text), late=True)
        self.stopped = []

    def after(self) -> None:
        """The table is right after a commit, and late attempts do not change it."""
        stage = self.stage
        what = wrong(stage.target, self.names, stage.columns)
        self.demand(not what, f"after commit: {what}")
        before = stage.print()
        for index in self.chance.sample(range(PARTS), 2):
            self.attempt(index)
        self.other_plan()
        done = stage.run("commit", *PLAN)
        self.demand(done.code == 0, f"a second commit: exit code {done.code}: {done.text.strip()}")
        self.demand(stage.print() == before, "late runs changed the table")
        left = sorted(path.name for path in stage.out.iterdir() if path != stage.target)
        self.demand(not left, f"beside the table, {left} is left")

    def other_plan(self) -> None:
        """Another plan of the same target does not replace it."""
        self.stage.make_plan("other.json", "--rows-per-part", str(self.stage.rows))
        made = self.stage.run("convert", "--plan", "other.json", "--part", "0")
        done = self.stage.run("commit", "--plan", "other.json")
        self.count("commits refused, 73: the table of another plan is there")
        self.demand(made.code in (0, REFUSED) and done.code == REFUSED, f"another plan: exit codes {made.code} and {done.code}: {done.text.strip()}")
        self.stage.must("abort", "--plan", "other.json")
