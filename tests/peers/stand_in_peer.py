"""A peer of known speed, for the test."""

import time

from peer_server import serve


class StandIn:
    def versions(self):
        return {"stand-in": "1"}

    def build(self, job):
        pass

    def step(self):
        time.sleep(0.002)

    def save(self, mode, path):
        time.sleep(0.02)
        path.mkdir()

    def finish(self):
        pass

    def restore(self, mode, path):
        time.sleep(0.004)

    def product(self, shape, form, at_least):
        return 0.001


if __name__ == "__main__":
    serve(StandIn())
