"""JAX: Orbax's CheckpointManager with synchronous saves."""

import itertools
import os

# Limits JAX to one thread.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax  # noqa: E402  (the variable comes first)
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
import orbax.checkpoint as ocp  # noqa: E402

import measured_run  # noqa: E402

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def initial_state(key):
    parameters = []
    for inputs, outputs in itertools.pairwise(measured_run.WIDTHS):
        key, own = jax.random.split(key)
        limit = (6 / (inputs + outputs)) ** 0.5
        parameters.append({
            "kernel": jax.random.uniform(own, (inputs, outputs), minval=-limit,
                                         maxval=limit),
            "bias": jnp.zeros(outputs)})
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return {"parameters": parameters, "m": zeros, "v": zeros,
            "step": jnp.zeros((), jnp.int32)}


def loss_of(parameters, rows):
    x = rows
    for layer in parameters[:-1]:
        x = jax.nn.relu(x @ layer["kernel"] + layer["bias"])
    x = x @ parameters[-1]["kernel"] + parameters[-1]["bias"]
    return jnp.mean((x - rows) ** 2)


@jax.jit
def train_step(state, rows):
    """Adam, as in Kingma & Ba 2015."""
    gradients = jax.grad(loss_of)(state["parameters"], rows)
    step = state["step"] + 1
    rate = RATE * jnp.sqrt(1 - BETA2 ** step) / (1 - BETA1 ** step)
    m = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state["m"],
                     gradients)
    v = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, state["v"],
                     gradients)
    parameters = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + EPSILON),
        state["parameters"], m, v)
    return {"parameters": parameters, "m": m, "v": v, "step": step}


def main():
    args = measured_run.parse()
    state = initial_state(jax.random.key(1))
    manager = ocp.CheckpointManager(
        args.out.absolute() / "checkpoints",
        options=ocp.CheckpointManagerOptions(
            max_to_keep=2, enable_async_checkpointing=False))
    for step in range(1, measured_run.STEPS + 1):
        rows = jax.random.normal(jax.random.key(step),
                                 (args.batch, measured_run.WIDTHS[0]))
        state = jax.block_until_ready(train_step(state, rows))
        if step % measured_run.EVERY == 0:
            manager.save(step, args=ocp.args.StandardSave(state))
        measured_run.print_end(step)
    wanted = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    loaded = manager.restore(manager.latest_step(),
                             args=ocp.args.StandardRestore(wanted))
    manager.close()
    measured_run.write_digests(
        args.out, {jax.tree_util.keystr(path): numpy.asarray(tensor)
                   for path, tensor in
                   jax.tree_util.tree_leaves_with_path(loaded)})


if __name__ == "__main__":
    main()
