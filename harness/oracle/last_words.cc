#include "harness/oracle/last_words.h"

#include "engine/worker_exit_code.h"

namespace gauntlet {
namespace {

bool LeftWith(const LifeEvents& life, WorkerExit exit) {
  return !EndedInSilence(life) && IsExit(life.events.back().count, {exit});
}

}  // namespace

bool EndedInSilence(const LifeEvents& life) {
  return life.events.empty() || life.events.back().kind != RecordKind::kLifeEnd;
}

bool LeftToBeRestarted(const LifeEvents& life) {
  return LeftWith(life, WorkerExit::kLostWorker);
}

bool LeftToStartLater(const LifeEvents& life) {
  return LeftWith(life, WorkerExit::kStartLater);
}

bool LeftUnsaved(const LifeEvents& life) {
  return LeftToStartLater(life) && life.events.back().step > 0;
}

}  // namespace gauntlet
