#include "harness/cli/program/ample_stack.h"

#include <cstddef>

#include <pthread.h>
#include <sys/resource.h>

namespace gauntlet {
namespace {

constexpr size_t kStackBytes = size_t{8} << 20;

struct Call {
  const std::function<int()>& body;
  int result = 0;
};

void* MakeCall(void* argument) {
  auto* const call = static_cast<Call*>(argument);
  call->result = call->body();
  return nullptr;
}

// Returns true iff new threads get ample stacks from now on.
bool SetDefaultStackSize() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool set = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                   pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return set;
}

}  // namespace

int RunWithAmpleStack(const std::function<int()>& body) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) {
    return body();
  }
  Call call{.body = body};
  pthread_t thread;
  // If no thread can be started, runs on the small stack.
  if (!SetDefaultStackSize() ||
      pthread_create(&thread, nullptr, MakeCall, &call) != 0) {
    return body();
  }
  pthread_join(thread, nullptr);
  return call.result;
}

}  // namespace gauntlet
