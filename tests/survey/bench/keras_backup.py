"""Keras on TensorFlow: the callback BackupAndRestore."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import h5py  # noqa: E402  (the variable comes first)
import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

import measured_run  # noqa: E402


class PrintEnds(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        measured_run.print_end(batch + 1)


def tensors_of(path):
    found = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def main():
    args = measured_run.parse()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(1)
    widths = measured_run.WIDTHS
    layers = [keras.layers.Input((widths[0],))]
    for units in widths[1:-1]:
        layers.append(keras.layers.Dense(units, activation="relu"))
    model = keras.Sequential([*layers, keras.layers.Dense(widths[-1])])
    model.compile("adam", "mse")
    rows = keras.random.normal((measured_run.STEPS * args.batch, widths[0]))
    backup = keras.callbacks.BackupAndRestore(
        str(args.out / "backup"), save_freq=measured_run.EVERY,
        delete_checkpoint=False)
    # A step's end is printed after its save, as callbacks run in this order.
    model.fit(rows, rows, batch_size=args.batch, shuffle=False, verbose=0,
              callbacks=[backup, PrintEnds()])
    measured_run.write_digests(
        args.out, tensors_of(args.out / "backup" / "latest.weights.h5"))


if __name__ == "__main__":
    main()
