#!/usr/bin/env python3
"""Preempts one job again and again, at random moments and in every way.

Each start gets one notice (a signal to the launcher or to a worker, a file, or
a metadata service) and, unless it finishes, has to leave with all it did saved:
the next start goes on from that very step. In the end the state is the one of
a run that nothing happened to.
"""

import http.server
import signal
import sys
import threading
import time

from observed_training import (Cases, STOPPED, expect, expect_equal, generator,
                               parser)

WORKERS = 3
MOST_STARTS = 5  # starts per stop: some end before any process can react
WAYS = ("launcher", "worker", "file", "http")


class MetadataService:
    """Answers whether this machine is preempted, as Google's service does."""

    def __init__(self):
        self.preempted = False
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                right = self.headers.get("Metadata-Flavor") == "Google"
                body = b"TRUE" if service.preempted else b"FALSE"
                self.send_response(200 if right else 403)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """Ignores a client that is gone, as it was preempted."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/preempted"
        threading.Thread(target=self._server.serve_forever,
                         daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Preemptions:
    def __init__(self, options):
        self.options = options
        self.clean = {}

    def command(self):
        return ["--preset", "tiny", "--replicas", WORKERS, "--workers",
                WORKERS, "--epochs", self.options.epochs, "--save-every", 50]

    def train_undisturbed(self, run):
        self.clean = run.train_to_end(*self.command())

    def preempt_often(self, run, choice):
        service = MetadataService()
        try:
            return self._preempt_often(run, service, choice)
        finally:
            service.close()

    def _preempt_often(self, run, service, choice):
        stops = []
        for _ in range(MOST_STARTS * self.options.count):
            outcome = self._start_and_preempt(run, service, choice)
            if outcome is None:
                continue
            expect(not stops or outcome["steps"] >= stops[-1],
                   f"stopped at step {outcome['steps']} after {stops}")
            stops.append(outcome["steps"])
            if outcome["status"] == "done" or len(stops) == self.options.count:
                break
        expect_equal("preemptions before the end", len(stops),
                     self.options.count)
        last = run.train_to_end(*self.command())
        expect_equal("resumed_from", last["resumed_from"], run_step(stops))
        expect_equal("digest", last["digest"], self.clean["digest"])
        run.expect_nothing_left()
        run.expect_clean_store()
        return f"stopped at {stops}"

    def _start_and_preempt(self, run, service, choice):
        """Returns the result, or None if the run ended before the workers could
        agree."""
        saved = run.newest_step()
        notice = run.directory / "notice"
        way = choice.choice(WAYS)
        run.start(*self.command(), "--notice-file", notice,
                  "--notice-url", service.url, "--notice-every", "20ms")
        # The notice comes at a time from before the rendezvous to well into
        # training.
        time.sleep(choice.uniform(0.0, 0.5))
        self._notify(run, way, service, notice, choice)
        code = run.wait()
        notice.unlink(missing_ok=True)
        service.preempted = False
        run.expect_nothing_left()
        # SIGTERM itself ends a launcher that has installed no handler yet.
        expect(code in (STOPPED, 0, -signal.SIGTERM),
               f"expected exit code {STOPPED} or 0 after a notice by {way}, "
               f"found {code} ({run.errors()[-300:].strip()})")
        outcome = run.outcome() if code != -signal.SIGTERM else None
        if outcome is None or outcome["status"] == "failed":
            expect_equal("newest checkpoint", run.newest_step(), saved)
            return None
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        expect_equal(f"restarts (notice by {way})", outcome["restarts"], 0)
        if saved is not None:
            expect_equal("resumed_from", outcome["resumed_from"], saved)
        return outcome

    def _notify(self, run, way, service, notice, choice):
        if way == "file":
            notice.touch()
        elif way == "http":
            service.preempted = True
        elif way == "launcher":
            run.launcher.send_signal(signal.SIGTERM)
        else:
            self._notify_worker(run, choice)

    def _notify_worker(self, run, choice):
        """Notifies a worker that already catches SIGTERM, or the launcher if
        there is none."""
        there = run.processes()
        workers = [p for p in there
                   if p.role.startswith("worker") and listens(p.pid)]
        try:
            if not workers:
                run.launcher.send_signal(signal.SIGTERM)
            else:
                choice.choice(workers).signal(signal.SIGTERM)
        finally:
            for process in there:
                process.close()


def listens(pid):
    """Returns True iff the process already catches SIGTERM."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            caught = [int(line.split()[1], 16) for line in status
                      if line.startswith("SigCgt:")]
    except OSError:
        return False
    return bool(caught and caught[0] >> (signal.SIGTERM - 1) & 1)


def run_step(stops):
    return stops[-1] if stops else None


def main():
    arguments = parser(__doc__, 20, "preemptions in a row")
    arguments.add_argument("--epochs", type=int, default=0,
                           help="of the whole job; 0: enough for all of them")
    options = arguments.parse_args()
    options.epochs = options.epochs or 400 * options.count
    cases = Cases(options)
    preemptions = Preemptions(options)
    cases.run("clean", preemptions.train_undisturbed)
    if cases.failed == 0:
        cases.run("preempted", lambda run: preemptions.preempt_often(
            run, generator(options, "preempted")))
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
