"""Keras: BackupAndRestore as documented, except that the backup stays after
training: without it, a restarted job would train from the beginning.
With `double`, double_checkpoint keeps the previous one."""

import sys

import keras

import keras_job as job

out, is_double = sys.argv[1], sys.argv[2:] == ["double"]
model = job.new_model()
features, targets = job.samples()
backup = keras.callbacks.BackupAndRestore(
    f"{out}/backup", double_checkpoint=is_double, delete_checkpoint=False)
job.print_start(model.fit(
    features, targets, batch_size=job.BATCH, epochs=job.EPOCHS, shuffle=False,
    verbose=0, callbacks=[backup]))
job.write_result(model, out)
