"""JAX: one compiled function a step, Adam as in Kingma & Ba 2015 (section 2);
saves by Orbax's CheckpointManager. Uses as many threads as the processors that
it may run on."""

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp

import jobs
from peer_server import serve

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-7


def _glorot(key, shape, fan_in, fan_out):
    limit = (6 / (fan_in + fan_out)) ** 0.5
    return jax.random.uniform(key, shape, minval=-limit, maxval=limit)


def _initial_parameters(job):
    key = jax.random.key(1)
    parameters = []
    width = jobs.FEATURES
    if job["filters"]:
        key, own = jax.random.split(key)
        parameters.append({"kernel": _glorot(own, (3, 3, 1, job["filters"]), 9,
                                             9 * job["filters"]),
                           "bias": jnp.zeros(job["filters"])})
        width = job["filters"] * 26 * 26
    for units in [*job["hidden"], jobs.CLASSES]:
        key, own = jax.random.split(key)
        parameters.append({"kernel": _glorot(own, (width, units), width, units),
                           "bias": jnp.zeros(units)})
        width = units
    return parameters


def _outputs(job, parameters, x, key):
    dense = parameters
    if job["filters"]:
        convolution, *dense = parameters
        x = jax.lax.conv_general_dilated(
            x.reshape(-1, 28, 28, 1), convolution["kernel"], (1, 1), "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC")) + convolution["bias"]
        x = jax.nn.relu(x).reshape(x.shape[0], -1)
    for index, layer in enumerate(dense[:-1]):
        x = jax.nn.relu(x @ layer["kernel"] + layer["bias"])
        if job["dropout"]:
            kept = 1 - job["dropout"]
            mask = jax.random.bernoulli(jax.random.fold_in(key, index), kept,
                                        x.shape)
            x = jnp.where(mask, x / kept, 0)
    return x @ dense[-1]["kernel"] + dense[-1]["bias"]


def _compiled_step(job):
    def loss_of(parameters, x, y, key):
        log_p = jax.nn.log_softmax(_outputs(job, parameters, x, key))
        return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], 1))

    def adam(state, gradients):
        step = state["step"].astype(jnp.float32) + 1
        rate = (jobs.LEARNING_RATE * jnp.sqrt(1 - _BETA2 ** step)
                / (1 - _BETA1 ** step))
        m = jax.tree.map(lambda m, g: _BETA1 * m + (1 - _BETA1) * g,
                         state["m"], gradients)
        v = jax.tree.map(lambda v, g: _BETA2 * v + (1 - _BETA2) * g * g,
                         state["v"], gradients)
        parameters = jax.tree.map(
            lambda p, m, v: p - rate * m / (jnp.sqrt(v) + _EPSILON),
            state["parameters"], m, v)
        return {**state, "parameters": parameters, "m": m, "v": v}

    def sgd(state, gradients):
        return {**state, "parameters": jax.tree.map(
            lambda p, g: p - jobs.LEARNING_RATE * g, state["parameters"],
            gradients)}

    update = adam if job["optimizer"] == "adam" else sgd

    def step(state, features, labels, order, at):
        rows = jax.lax.dynamic_slice(order, (at,), (job["batch"],))
        key = jax.random.fold_in(state["key"], state["step"])
        loss, gradients = jax.value_and_grad(loss_of)(
            state["parameters"], features[rows], labels[rows], key)
        state = update(state, gradients)
        return {**state, "step": state["step"] + 1,
                "loss_sum": state["loss_sum"] + loss}

    return jax.jit(step, donate_argnums=0)


def _open_manager(mode, folder):
    return ocp.CheckpointManager(
        folder / "orbax", options=ocp.CheckpointManagerOptions(
            max_to_keep=2, enable_async_checkpointing=mode == "Orbax async"))


class JaxPeer:
    def __init__(self):
        key = jax.random.key(2)
        self._features = jax.random.uniform(key, (jobs.ROWS, jobs.FEATURES))
        self._labels = jax.random.randint(key, (jobs.ROWS,), 0, jobs.CLASSES)
        self._order = jax.random.permutation(key, jobs.ROWS)
        self._manager = None

    def versions(self):
        return {"jax": jax.__version__, "orbax-checkpoint": ocp.__version__}

    def build(self, job):
        parameters = _initial_parameters(job)
        self._job = job
        self._state = {"parameters": parameters,
                       "step": jnp.zeros((), jnp.int32),
                       "loss_sum": jnp.zeros(()), "key": jax.random.key(1)}
        if job["optimizer"] == "adam":
            for slot in "m", "v":
                self._state[slot] = jax.tree.map(jnp.zeros_like, parameters)
        self._step = _compiled_step(job)
        # Indices are copied to the device before they are needed.
        self._places = [jnp.asarray(at, jnp.int32) for at in
                        range(0, jobs.ROWS - job["batch"] + 1, job["batch"])]
        self._done = 0

    def step(self):
        at = self._places[self._done % len(self._places)]
        self._done += 1
        self._state = self._step(self._state, self._features, self._labels,
                                 self._order, at)
        jax.block_until_ready(self._state)

    def _saved(self):
        """Returns the state without its key, whose type cannot be saved."""
        return {name: part for name, part in self._state.items()
                if name != "key"}

    def save(self, mode, path):
        """Orbax keeps its saves in one folder and removes old ones itself."""
        if self._manager is None:
            self._manager = _open_manager(mode, path.parent)
        self._manager.save(self._done, args=ocp.args.StandardSave(self._saved()))
        path.mkdir()  # so that the newest one is found

    def finish(self):
        if self._manager is not None:
            self._manager.wait_until_finished()
            self._manager.close()
        self._manager = None

    def restore(self, mode, path):
        manager = _open_manager(mode, path.parent)
        wanted = jax.tree.map(ocp.utils.to_shape_dtype_struct, self._saved())
        found = manager.restore(manager.latest_step(),
                                args=ocp.args.StandardRestore(wanted))
        self._state.update(found)
        jax.block_until_ready(self._state)
        manager.close()


if __name__ == "__main__":
    serve(JaxPeer())
