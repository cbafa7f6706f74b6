"""Names, pipes, links, modes and limits that a file system may hold.

Each case is a place that a user, or another program, has prepared: the program
works with it or refuses it by name, and never waits for it.
"""

import os
import resource
import stat
import subprocess
import sys
import time

from observed_training import DEADLINE_S, expect, expect_equal, run_checks

SMALL = ("--epochs", "1", "--replicas", "2", "--no-progress")


def gauntlet(run, *arguments, **options):
    """Runs a command to its end. Returns standard output and error as text."""
    return subprocess.run(
        [run.program, *arguments], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False, **options)


def refuses(run, line, *arguments):
    done = gauntlet(run, *arguments)
    expect_equal(f"exit code of {arguments} ({done.stderr})",
                 done.returncode, 2)
    expect(line in done.stderr, f"expected {line!r}, found {done.stderr!r}")
    expect_equal("lines", len(done.stderr.splitlines()), 1)


def succeeds(what, done):
    expect_equal(f"exit code of {what} ({done.stderr})", done.returncode, 0)


def names_that_are_not_utf8_are_refused(run):
    for name in (b"run-\xe9", b"run-\xe8"):
        shown = "found 'run-\\" + f"x{name[-1]:x}'"
        refuses(run, f"--ckpt: expected a path in UTF-8, {shown}", "train",
                *SMALL, "--ckpt", name)
        refuses(run, shown, "ckpt", "ls", name)
    expect_equal("what is there", os.listdir(run.directory), [])


def a_pipe_in_place_of_an_output_file_is_refused(run):
    for flag, file in (("--events", "worker-0-incarnation-1.jsonl"),
                       ("--logs", "worker-0-incarnation-1.log")):
        directory = run.directory / flag[2:]
        directory.mkdir()
        os.mkfifo(directory / file)
        refuses(run, f"{file}: expected a regular file, found a pipe",
                "train", *SMALL, flag, directory)
        (directory / file).unlink()
        (directory / file).symlink_to(run.directory / "mine")
        refuses(run, f"{file}: expected a regular file, found a link",
                "train", *SMALL, flag, directory)
        expect(not (run.directory / "mine").exists(), "written through a link")


def a_pipe_in_place_of_any_path_is_refused(run):
    os.mkfifo(run.directory / "pipe")
    for flag in ("--events", "--logs", "--tensorboard", "--export", "--ckpt",
                 "--job", "--plan", "--init-from"):
        refuses(run, "pipe: ", "train", *SMALL, flag, "pipe")
    refuses(run, "pipe: ", "train", *SMALL, "--preset", "mlp", "--data",
            "pipe")
    for command in (("ckpt", "ls", "pipe"), ("ckpt", "verify", "pipe"),
                    ("ckpt", "predict", "pipe"), ("run", "pipe"),
                    ("replay", "pipe"), ("evaluate", "--ckpt", "pipe")):
        done = gauntlet(run, *command)
        expect_equal(f"exit code of {command} ({done.stderr})",
                     done.returncode, 2)


def a_link_to_nothing_is_named(run):
    (run.directory / "link").symlink_to("not-mounted/yet")
    for flag in ("--ckpt", "--events", "--logs", "--tensorboard", "--export"):
        refuses(run, "link: opendir: it is a link to not-mounted/yet, which "
                "does not exist", "train", *SMALL, flag, "link")
    refuses(run, "which does not exist", "train", *SMALL, "--ckpt",
            "link/below")
    (run.directory / "loop").symlink_to("loop")
    refuses(run, "--ckpt: loop: ", "train", *SMALL, "--ckpt", "loop")
    (run.directory / "link.yaml").symlink_to("not-mounted/yet")
    for command in (("train", *SMALL, "--job", "link"),
                    ("train", *SMALL, "--plan", "link"),
                    ("train", *SMALL, "--init-from", "link"),
                    ("run", "link.yaml")):
        refuses(run, "it is a link to not-mounted/yet, which does not exist",
                *command)
    expect_equal("what is there", sorted(os.listdir(run.directory)),
                 ["link", "link.yaml", "loop"])


def export_through_a_link_replaces_the_targets_content(run):
    succeeds("train", gauntlet(run, "train", *SMALL, "--export", "v1"))
    (run.directory / "current").symlink_to("v1")
    first = (run.directory / "v1/model.json").read_bytes()
    succeeds("train again", gauntlet(
        run, "train", *SMALL, "--seed", "7", "--export", "current"))
    expect_equal("link", os.readlink(run.directory / "current"), "v1")
    expect_equal("exported", sorted(os.listdir(run.directory / "v1")),
                 ["model.json", "model.safetensors"])
    expect((run.directory / "v1/model.json").read_bytes() != first,
           "the export is still the earlier one")
    expect_equal("what is there", sorted(os.listdir(run.directory)),
                 ["current", "v1"])


def commands_on_a_store(store):
    return (("ckpt", "ls", store), ("ckpt", "verify", store),
            ("train", *SMALL, "--ckpt", store),
            ("evaluate", "--ckpt", store, "--once"))


def refused_by_name(run, line, commands):
    for command in commands:
        done = gauntlet(run, *command)
        output = done.stdout + done.stderr
        expect_equal(f"exit code of {command} ({output})", done.returncode, 2)
        expect_equal(f"lines of {command} with {line!r} in {output!r}",
                     output.count(line), 1)


def what_cannot_be_a_state_file_or_a_claim_is_refused(run):
    """Refused immediately; the checkpoints next to it are still listed."""
    succeeds("train", gauntlet(run, "train", *SMALL, "--ckpt", "w"))
    (checkpoint,) = (path.name for path in run.directory.glob("w/step-*"))
    for name, make, found in (
            ("checkpoint", lambda path: path.symlink_to("nowhere"),
             "a link to something that does not exist"),
            ("gen-000009", lambda path: path.symlink_to("nowhere"),
             "a link to something that does not exist"),
            ("checkpoint", os.mkdir, "a directory"),
            ("checkpoint", os.mkfifo, "neither a file nor a directory")):
        place = run.directory / "w" / name
        if place.exists():
            place.rename(run.directory / "kept")
        make(place)
        started = time.monotonic()
        refused_by_name(run, f"w/{name}: expected a file, found {found}; "
                        "remove it", commands_on_a_store("w"))
        expect(time.monotonic() - started < 20, "refused only after a wait")
        for verb in ("ls", "verify"):
            output = gauntlet(run, "ckpt", verb, "w").stdout
            expect(checkpoint in output, f"{verb}: {output}")
        (place.rmdir if place.is_dir() else place.unlink)()
        if (run.directory / "kept").exists():
            (run.directory / "kept").rename(place)
    succeeds("train", gauntlet(run, "train", *SMALL, "--ckpt", "w"))


def a_linked_checkpoint_is_refused_and_the_others_are_listed(run):
    succeeds("train", gauntlet(run, "train", *SMALL, "--ckpt", "w"))
    (checkpoint,) = run.directory.glob("w/step-*")
    (run.directory / "elsewhere").mkdir()
    for target, found in (
            ("../elsewhere", "a symbolic link to a directory; put the "
             "directory itself here, or remove the link"),
            ("../nowhere", "a link to something that does not exist; "
             "remove it")):
        link = run.directory / "w/step-000000200-g1"
        link.symlink_to(target)
        refused_by_name(run, "w/step-000000200-g1: expected a directory, "
                        f"found {found}", commands_on_a_store("w"))
        for verb in ("ls", "verify"):
            output = gauntlet(run, "ckpt", verb, "w").stdout
            expect(checkpoint.name in output, f"{verb}: {output}")
        link.unlink()


def ls_ends_as_verify_where_a_run_would_stop(run):
    succeeds("train", gauntlet(run, "train", *SMALL, "--ckpt", "w"))
    (run.directory / "w/checkpoint").write_text("latest: step-000000999-g1\n")
    for verb in ("ls", "verify"):
        done = gauntlet(run, "ckpt", verb, "w")
        expect_equal(f"exit code of {verb}", done.returncode, 2)
        expect("step-000000" in done.stdout, done.stdout)
        expect("a run stops: w/checkpoint: edited: line 1: " in done.stdout
               and "remove the file w/checkpoint\n" in done.stdout,
               done.stdout)
    expect("2: a run would be refused" in " ".join(gauntlet(
        run, "ckpt", "--help").stdout.split()), "help")


def an_export_that_cannot_be_written_is_refused_before_a_worker(run):
    (run.directory / "ff").write_text("mine")
    (run.directory / "full").mkdir()
    (run.directory / "full/thesis.pdf").touch()
    for place, line in (
            ("ff", "train: --export: ff: expected a folder, found a file there or "
             "above it"),
            ("full", "train: --export: full: expected nothing or an earlier "
             "export, found 'thesis.pdf'"),
            ("x" * 253, "train: --export: "), ("x" * 300, "train: --export: "),
            ("/proc/nope", "train: --export: /proc/nope")):
        refuses(run, line, "train", *SMALL, "--export", place)
    expect_equal("mine", (run.directory / "ff").read_text(), "mine")


def paths_that_cannot_be_are_refused_at_the_start(run):
    for flag in ("--notice-file", "--ckpt", "--tensorboard", "--events"):
        refuses(run, f"{flag}: expected a path whose names have at most 255 "
                "bytes each", "train", *SMALL, flag, "x" * 300)
    for flag in ("--ckpt", "--tensorboard", "--events", "--logs"):
        refuses(run, f"train: {flag}: /proc/nope: ", "train", *SMALL, flag,
                "/proc/nope")


def what_is_missing_or_of_another_kind_is_said_so(run):
    (run.directory / "a1.py").write_text("import os\n" * 300)
    refuses(run, "--init-from: a1.py: expected a safetensors file, found "
            "another one: ", "train", *SMALL, "--init-from", "a1.py")
    refuses(run, "ckpt ls: expected DIR: gauntlet ckpt ls DIR", "ckpt", "ls")
    refuses(run, "ckpt diff: expected A and B: gauntlet ckpt diff A B",
            "ckpt", "diff", "a")
    done = gauntlet(run, "evaluate", "--ckpt", "n5", "--once")
    expect_equal("exit code of evaluate --once", done.returncode, 7)
    expect("n5: no such directory" in done.stderr, done.stderr)


def a_number_without_a_next_is_named_by_verify_and_train(run):
    train = ("train", *SMALL, "--ckpt", "ckpt")
    succeeds("train", gauntlet(run, *train))
    (run.directory / "ckpt/gen-18446744073709551615").touch()
    runs = [gauntlet(run, *command)
            for command in (("ckpt", "ls", "ckpt"),
                            ("ckpt", "verify", "ckpt"), train)]
    for done in runs:
        expect_equal(f"exit code ({done.stderr})", done.returncode, 2)
        output = done.stdout + done.stderr
        expect("ckpt/gen-18446744073709551615: expected generations up to "
               in output, output)
        expect("; remove the file ckpt/gen-18446744073709551615" in output,
               output)
    (run.directory / "ckpt/gen-18446744073709551615").unlink()
    succeeds("train", gauntlet(run, *train))


def a_small_stack_is_enough(run):
    def limited():
        resource.setrlimit(resource.RLIMIT_STACK, (65536, 65536))
    succeeds("train", gauntlet(run, "train", *SMALL, "--workers", "2",
                               "--ckpt", "ckpt", preexec_fn=limited))
    succeeds("verify", gauntlet(run, "ckpt", "verify", "ckpt",
                                preexec_fn=limited))
    succeeds("explore", gauntlet(run, "explore", "--cases", "20",
                                 preexec_fn=limited))


def another_namespaces_proc_does_no_harm(run):
    """Uses the /proc of another PID namespace, whose process numbers differ
    from those of this one."""
    unshared = ("unshare", "--pid", "--fork")
    if subprocess.run([*unshared, "true"], check=False,
                      capture_output=True).returncode != 0:
        return "skipped: a PID namespace needs root"
    done = subprocess.run(
        [*unshared, run.program, "train", *SMALL, "--workers", "2"],
        cwd=run.directory, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=DEADLINE_S, check=False)
    succeeds("train", done)
    return None


def all_files(directory):
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            yield os.path.join(folder, name)


def nothing_is_writable_by_everybody(run):
    """Tests umask 0. Group permissions that the umask allows stay."""
    def no_mask():
        os.umask(0)
    succeeds("train", gauntlet(
        run, "train", *SMALL, "--ckpt", "a/ckpt", "--events", "events",
        "--logs", "logs", "--tensorboard", "board", "--export", "model",
        preexec_fn=no_mask))
    (run.directory / "s.yaml").write_text(
        "schema: gauntlet/v2\nname: s\npreset: tiny\n"
        "expect: {outcome: completes}\n")
    succeeds("run", gauntlet(run, "run", "s.yaml", "--junit", "j.xml",
                             "--world", "sim", preexec_fn=no_mask))
    made = [path for path in all_files(run.directory)
            if not path.endswith("s.yaml") and not os.path.islink(path)]
    expect(len(made) > 20, f"too few files: {made}")
    for path in made:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        expect_equal(f"mode of {path} ({mode:o}) for others", mode & 0o002, 0)
    expect_equal("the store's mode for the group",
                 os.stat(run.directory / "a/ckpt").st_mode & 0o020, 0o020)


def a_run_that_waits_for_a_lock_says_for_whom(run):
    train = ("train", "--replicas", "2", "--ckpt", "ckpt", "--no-progress")
    holder = subprocess.Popen(
        [run.program, *train, "--epochs", "1000000"], cwd=run.directory,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + DEADLINE_S
        while not any(run.directory.glob("ckpt/gen-*")):
            expect(time.monotonic() < deadline, "no run began")
            time.sleep(0.02)
        done = gauntlet(run, *train, "--epochs", "1")
    finally:
        holder.terminate()
        holder.wait(DEADLINE_S)
    expect_equal(f"exit code ({done.stderr})", done.returncode, 75)
    lines = done.stderr.splitlines()
    expect_equal(f"lines ({done.stderr})", len(lines), 2)
    host = os.uname().nodename
    named = f"ckpt/lock: locked by process {holder.pid} on {host} since "
    for line in lines:
        expect(named in line and "train --replicas 2" in line, line)
    expect("waiting: ckpt: in use by another run" in lines[0], lines[0])


def a_lock_that_is_no_file_is_refused(run):
    (run.directory / "ckpt").mkdir()
    lock = run.directory / "ckpt/lock"
    for make, remove, found in ((os.mkfifo, os.unlink, "a pipe"),
                                (os.mkdir, os.rmdir, "a directory")):
        make(lock)
        refuses(run, "ckpt/lock: expected a regular file, found "
                f"{found}; remove it", "train", *SMALL, "--ckpt", "ckpt")
        remove(lock)


CHECKS = (
    names_that_are_not_utf8_are_refused,
    a_pipe_in_place_of_an_output_file_is_refused,
    a_pipe_in_place_of_any_path_is_refused,
    a_link_to_nothing_is_named,
    export_through_a_link_replaces_the_targets_content,
    what_cannot_be_a_state_file_or_a_claim_is_refused,
    a_linked_checkpoint_is_refused_and_the_others_are_listed,
    ls_ends_as_verify_where_a_run_would_stop,
    an_export_that_cannot_be_written_is_refused_before_a_worker,
    paths_that_cannot_be_are_refused_at_the_start,
    what_is_missing_or_of_another_kind_is_said_so,
    a_number_without_a_next_is_named_by_verify_and_train,
    a_small_stack_is_enough,
    another_namespaces_proc_does_no_harm,
    nothing_is_writable_by_everybody,
    a_run_that_waits_for_a_lock_says_for_whom,
    a_lock_that_is_no_file_is_refused,
)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, CHECKS))
