"""TensorFlow: tf.train.CheckpointManager, which keeps the newest two, as in the
guide to training checkpoints."""

import sys

import keras
import tensorflow as tf

import keras_job as job

out = sys.argv[1]
model = job.new_model()
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)
features, targets = job.samples()
checkpoint = tf.train.Checkpoint(epoch=tf.Variable(0), model=model,
                                 optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, f"{out}/checkpoints",
                                     max_to_keep=2)
manager.restore_or_initialize()
print(f"resumed from step {int(checkpoint.epoch)}", flush=True)
while int(checkpoint.epoch) < job.EPOCHS:
    for step in range(job.STEPS_PER_EPOCH):
        rows = slice(step * job.BATCH, (step + 1) * job.BATCH)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features[rows]) - targets[rows]) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    checkpoint.epoch.assign_add(1)
    manager.save()
job.write_result(model, out)
