"""Runs a Python program in children of a process that has imported its
libraries.

    PYTHON FLAG... fork_server.py list FILE KIND TARGET ARGUMENT...
    PYTHON FLAG... fork_server.py serve FOLDER < descriptor 3

`list` runs the program in this process, and writes the names of the library
modules that it loaded, a line each. `serve` imports the modules that
FOLDER/modules.txt lists, reports on descriptor 3, and serves runs at
FOLDER/socket until the other end of descriptor 3 is closed
(harness/trainer/python/fork_server.h).

KIND is script, module or code, for the command lines `python TARGET`,
`python -m TARGET` and `python -c TARGET`.
"""

import atexit
import builtins
import ctypes
import gc
import importlib
import importlib.machinery
import io
import json
import os
import runpy
import select
import socket
import sys
import types

# Removes the folder of this file from sys.path. set_first_path adds that of the
# program in its place.
HAS_FOLDER_IN_PATH = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
if HAS_FOLDER_IN_PATH:
    del sys.path[0]

LIBRARY = os.path.dirname(os.__file__) + os.sep
# Keeps this module alive when the module of the program replaces it.
SERVER_MODULE = sys.modules["__main__"]
NAMESPACES = ("user", "mnt", "net", "pid")
MOST_SKIPPED = 5  # maximum number of skipped modules that a report names


def is_library_file(path):
    parts = path.split(os.sep)
    return (
        path.startswith(LIBRARY)
        or "site-packages" in parts
        or "dist-packages" in parts
    )


def attribute(module, name):
    """Returns an attribute without making a lazy module load."""
    try:
        return object.__getattribute__(module, "__dict__").get(name)
    except AttributeError:
        return None


def is_library_module(name, module):
    spec = attribute(module, "__spec__")
    if spec is None or spec.name != name:
        return False
    if spec.origin in ("built-in", "frozen"):
        return True
    return isinstance(spec.origin, str) and is_library_file(spec.origin)


# ---- Runs the program as `python` itself does.


def set_first_path(path):
    if HAS_FOLDER_IN_PATH:
        sys.path.insert(0, path)


def new_main_module():
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    module.__loader__ = importlib.machinery.BuiltinImporter
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    # Replaces the server's module under all its names: libraries such as
    # multiprocessing may have added one.
    for name, loaded in list(sys.modules.items()):
        if loaded is SERVER_MODULE:
            sys.modules[name] = module
    return module


def reason_of(error):
    return "[Errno %d] %s" % (error.errno, error.strerror)


def execute_script(path, module):
    set_first_path(os.path.dirname(os.path.realpath(path)))
    if sys.version_info >= (3, 9):
        path = os.path.join(os.getcwd(), path)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        program = getattr(sys, "orig_argv", [sys.executable])[0]
        print(
            "%s: can't open file %r: %s" % (program, path, reason_of(error)),
            file=sys.stderr,
        )
        raise SystemExit(2)
    module.__file__ = path
    module.__cached__ = None
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    code = compile(source, path, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def execute(kind, target, arguments):
    module = new_main_module()
    first = {"script": target, "module": "-m", "code": "-c"}[kind]
    sys.argv = [first] + arguments
    if kind == "script":
        execute_script(target, module)
    elif kind == "module":
        set_first_path(os.getcwd())
        runpy._run_module_as_main(target)
    else:
        set_first_path("")
        code = compile(target, "<string>", "exec", dont_inherit=True)
        exec(code, module.__dict__)


def run(kind, target, arguments):
    """Runs the program. Raises SystemExit at its end, so that the interpreter
    ends as usual."""
    try:
        execute(kind, target, arguments)
        status = 0
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    raise SystemExit(status)


def end_child(status):
    """Ends the process as the interpreter does, but frees no objects: freeing
    the server's modules would first copy each of their pages."""
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    # Flushes files that the program left open, as freeing them would.
    for item in gc.get_objects():
        if isinstance(item, io.IOBase):
            try:
                item.flush()
            except (OSError, ValueError):
                pass  # closed, detached, or open for reading only
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit((status or 0) & 255)


# ---- list


def write_modules(path):
    names = [
        name
        for name, module in list(sys.modules.items())
        if name != "__main__" and is_library_module(name, module)
    ]
    with open(path, "w") as file:
        file.write("".join(name + "\n" for name in names))


# ---- serve


class Off(Exception):
    """Raised if the server cannot be used. Has the reason, one line."""


def thread_count():
    return len(os.listdir("/proc/self/task"))


def end_threads():
    """Forks once, because libraries such as OpenBLAS then end their threads."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def check_threads(name):
    if thread_count() == 1:
        return
    end_threads()
    if thread_count() > 1:
        raise Off("the import of %s starts a thread" % name)


def check_devices():
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink("/proc/self/fd/" + descriptor)
        except OSError:
            continue
        if path.startswith("/dev/nvidia"):
            raise Off("the imports open a GPU (%s)" % path)


def check_origins(loaded_before):
    for name, module in list(sys.modules.items()):
        path = attribute(module, "__file__")
        if name in loaded_before or module is SERVER_MODULE:
            continue
        if isinstance(path, str) and not is_library_file(path):
            raise Off("the libraries import %s, which is not a library's" % path)


def import_modules(names):
    """Returns the number of imported modules, and a line for each that could
    not be imported."""
    loaded_before = set(sys.modules)
    skipped = []
    for name in names:
        if name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:
            skipped.append("%s (%s: %s)" % (name, type(error).__name__, error))
        check_threads(name)
    check_devices()
    check_origins(loaded_before)
    return len(names) - len(skipped), skipped


def read_request(connection):
    """Returns the request and the descriptors that came with it."""
    room = socket.CMSG_SPACE(4 * (1 + len(NAMESPACES)))
    text, ancillary, _, _ = connection.recvmsg(1 << 16, room)
    descriptors = memoryview(ancillary[0][2]).cast("i").tolist()
    while not text.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise EOFError("the request has no end")
        text += more
    return json.loads(text.decode()), descriptors


def check_call(result):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def enter_namespaces(libc, descriptors):
    own = [os.stat("/proc/self/ns/" + name).st_ino for name in NAMESPACES]
    entered = []
    for name, descriptor, inode in zip(NAMESPACES, descriptors, own):
        if os.fstat(descriptor).st_ino != inode:
            check_call(libc.setns(descriptor, 0))
            entered.append(name)
        os.close(descriptor)
    return entered


def drop_capabilities(libc):
    """Drops the capabilities that a process gets when it enters a user
    namespace. In a fresh process, exec would have dropped them."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    check_call(libc.capset(header, (ctypes.c_uint32 * 6)()))
    check_call(libc.prctl(4, 1, 0, 0, 0))  # PR_SET_DUMPABLE, as after an exec


def start_afresh():
    """Resets state of libraries that differs in each fresh process."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
        sys.modules["tempfile"]._name_sequence = None


class Server:
    def __init__(self, folder):
        self.start_folder = os.getcwd()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.control = socket.socket(fileno=3)
        self.folder = folder

    def report(self, report):
        self.control.sendall(json.dumps(report).encode() + b"\n")

    def prepare(self):
        """Imports the modules and listens at the socket. If the server cannot
        be used, reports the reason and returns False."""
        with open(os.path.join(self.folder, "modules.txt")) as file:
            names = file.read().split()
        try:
            count, skipped = import_modules(names)
        except Off as reason:
            self.report({"off": str(reason)})
            return False
        # Otherwise each child would print buffered output again.
        sys.stdout.flush()
        sys.stderr.flush()
        # Binds to a relative path, as the length of a socket's path is limited.
        os.chdir(self.folder)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind("socket")
        self.listener.listen(256)
        os.chdir(self.start_folder)
        gc.collect()
        # Garbage collection in a child must not touch the server's objects.
        gc.freeze()
        self.report({"modules": count, "skipped": skipped[:MOST_SKIPPED]})
        return True

    def serve(self):
        """Forks a child for each request. Returns only in the process of a
        program, with its request."""
        while True:
            ready, _, _ = select.select([self.listener, self.control], [], [])
            if self.control in ready:
                os._exit(0)
            connection, _ = self.listener.accept()
            self.reap()
            count = thread_count()
            if count > 1:
                self.refuse(connection, "there are %d threads" % count)
            elif os.fork() == 0:
                return self.supervise(connection)
            connection.close()

    def reap(self):
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass

    def refuse(self, connection, reason):
        connection.sendall(json.dumps({"error": reason}).encode() + b"\n")

    def supervise(self, connection):
        """Forks the process of the program, reports its end and exits. Returns
        the request in the process of the program."""
        self.listener.close()
        self.control.close()
        try:
            request, descriptors = read_request(connection)
            entered = enter_namespaces(self.libc, descriptors[1:])
            os.chdir(request["working_directory"] or self.start_folder)
            # setns changes the namespace of processes only for children, so the
            # program runs in a child.
            child = os.fork()
        except BaseException as error:
            self.refuse(connection, "%s: %s" % (type(error).__name__, error))
            os._exit(1)
        if child == 0:
            connection.close()
            self.become(request, descriptors[0], "user" in entered)
            return request
        os.close(descriptors[0])
        _, status = os.waitpid(child, 0)
        try:
            connection.sendall(json.dumps({"status": status}).encode() + b"\n")
        except OSError:
            pass  # the run was cancelled
        os._exit(0)

    def become(self, request, output, is_in_user_namespace):
        os.setpgid(0, 0)
        if is_in_user_namespace:
            drop_capabilities(self.libc)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        start_afresh()
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[1:] = request["command"][1:]


if __name__ == "__main__":
    if sys.argv[1] == "list":
        atexit.register(write_modules, sys.argv[2])
        run(sys.argv[3], sys.argv[4], sys.argv[5:])
    server = Server(sys.argv[2])
    if not server.prepare():
        os._exit(0)
    request = server.serve()
    try:
        run(request["kind"], request["target"], request["arguments"])
    except SystemExit as end:
        end_child(end.code)
