"""JAX with Orbax's CheckpointManager, which keeps the newest two: synchronous
saves (sync), or asynchronous ones (async, the library's default)."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

STEPS = 6
SAVE_EVERY = 2


def loss_of(parameters, features):
    hidden = jax.nn.relu(features @ parameters["first"])
    return jnp.mean((hidden @ parameters["second"] - features.sum(1)) ** 2)


@jax.jit
def train_step(state, step):
    features = jax.random.uniform(jax.random.fold_in(jax.random.key(2), step),
                                  (8, 16))
    gradients = jax.grad(loss_of)(state["parameters"], features)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"],
                            gradients)
    return {"parameters": jax.tree.map(lambda p, m: p - 0.001 * m,
                                       state["parameters"], momentum),
            "momentum": momentum}


out, way = pathlib.Path(sys.argv[1]), sys.argv[2]
first, second = jax.random.split(jax.random.key(1))
parameters = {"first": jax.random.normal(first, (16, 64)) * 0.1,
              "second": jax.random.normal(second, (64,)) * 0.1}
state = {"parameters": parameters,
         "momentum": jax.tree.map(jnp.zeros_like, parameters)}
options = ocp.CheckpointManagerOptions(
    max_to_keep=2, save_interval_steps=SAVE_EVERY,
    enable_async_checkpointing=way == "async")
with ocp.CheckpointManager(out / "checkpoints", options=options) as manager:
    done = manager.latest_step() or 0
    if done:
        wanted = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
        state = manager.restore(done, args=ocp.args.StandardRestore(wanted))
    print(f"resumed from step {done}", flush=True)
    for step in range(done, STEPS):
        state = train_step(state, step)
        manager.save(step + 1, args=ocp.args.StandardSave(state))
    manager.wait_until_finished()
np.savez(out / "final.npz", **state["parameters"])
