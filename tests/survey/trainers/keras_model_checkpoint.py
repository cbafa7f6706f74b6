"""Keras: ModelCheckpoint of the whole model to one file after each epoch, resumed
by load_model, as in its documentation."""

import os
import sys

import keras

import keras_job as job

out = sys.argv[1]
path = f"{out}/checkpoint.model.keras"
model = job.new_model()
done = 0
if os.path.exists(path):
    model = keras.models.load_model(path)
    done = int(model.optimizer.iterations) // job.STEPS_PER_EPOCH
features, targets = job.samples()
print(f"resumed from step {done}", flush=True)
model.fit(features, targets, batch_size=job.BATCH, initial_epoch=done,
          epochs=job.EPOCHS, shuffle=False, verbose=0,
          callbacks=[keras.callbacks.ModelCheckpoint(path)])
job.write_result(model, out)
