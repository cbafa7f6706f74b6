"""TensorFlow: one tf.function a step, with Keras layers and optimizers; saves with
tf.train.Checkpoint, then fsync."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402  (the variable comes first)
import tensorflow as tf  # noqa: E402

import jobs  # noqa: E402
from durable_files import rename_synced  # noqa: E402
from peer_server import serve  # noqa: E402


def _build_model(job):
    layers = [keras.layers.Input((jobs.FEATURES,))]
    if job["filters"]:
        layers += [keras.layers.Reshape((28, 28, 1)),
                   keras.layers.Conv2D(job["filters"], 3, activation="relu"),
                   keras.layers.Flatten()]
    for units in job["hidden"]:
        layers.append(keras.layers.Dense(units, activation="relu"))
        if job["dropout"]:
            layers.append(keras.layers.Dropout(job["dropout"]))
    return keras.Sequential([*layers, keras.layers.Dense(jobs.CLASSES)])


class TensorFlowPeer:
    def __init__(self, threads):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        keras.utils.set_random_seed(1)
        self._features = tf.random.uniform((jobs.ROWS, jobs.FEATURES))
        self._labels = tf.random.uniform((jobs.ROWS,), maxval=jobs.CLASSES,
                                         dtype=tf.int32)

    def versions(self):
        return {"tensorflow": tf.__version__, "keras": keras.__version__}

    def build(self, job):
        model = _build_model(job)
        rule = (keras.optimizers.Adam if job["optimizer"] == "adam"
                else keras.optimizers.SGD)
        optimizer = rule(jobs.LEARNING_RATE)
        optimizer.build(model.trainable_variables)
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        batch = job["batch"]
        order = tf.random.shuffle(tf.range(jobs.ROWS))
        places = jobs.ROWS // batch
        done = tf.Variable(0, dtype=tf.int32)
        loss_sum = tf.Variable(0.0)

        @tf.function
        def step():
            at = done % places * batch
            rows = order[at:at + batch]
            with tf.GradientTape() as tape:
                loss = loss_of(tf.gather(self._labels, rows),
                               model(tf.gather(self._features, rows),
                                     training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            loss_sum.assign_add(loss)
            done.assign_add(1)
            return loss

        self._step = step
        self._checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)

    def step(self):
        self._step().numpy()

    def save(self, mode, path):
        del mode
        temporary = f"{path}.tmp"
        os.mkdir(temporary)
        self._checkpoint.write(f"{temporary}/state")
        rename_synced(temporary, path)

    def finish(self):
        pass

    def restore(self, mode, path):
        del mode
        self._checkpoint.read(f"{path}/state").assert_existing_objects_matched()


if __name__ == "__main__":
    serve(TensorFlowPeer(threads=int(sys.argv[1])))
