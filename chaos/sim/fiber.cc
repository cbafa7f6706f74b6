#include "chaos/sim/fiber.h"

#include <cstring>
#include <utility>

#include "engine/check.h"
#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GAUNTLET_FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define GAUNTLET_FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GAUNTLET_FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define GAUNTLET_FIBER_TSAN 1
#endif
#ifdef GAUNTLET_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef GAUNTLET_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gauntlet {
namespace {

namespace fcontext = boost::context::detail;

constexpr size_t kGuardBytes = 4096;

// Apart, so that the frame that an unwinding begins in has nothing to clean up.
[[noreturn, gnu::noinline]] void CannotUnwind(int reason) {
  CHECK(false, fmt::format("a stack cannot be unwound: reason {}", reason));
  __builtin_unreachable();
}

}  // namespace

struct FiberContext::Bottom {
  [[noreturn]] static void Run(fcontext::transfer_t from) {
    auto* const self = static_cast<FiberContext*>(from.data);
    self->caller_ = from.fctx;
    self->Arrived();
    while (self->body_) {
      self->body_();
      self->body_ = nullptr;
      self->done_ = true;
      self->Suspend();
    }
    self->SwitchForGood();
  }

  static bool Has(_Unwind_Context* frame) {
    return _Unwind_GetRegionStart(frame) == reinterpret_cast<uintptr_t>(&Run);
  }
};

FiberContext::FiberContext(size_t stack_bytes) : stack_bytes_(stack_bytes) {
  mapping_ =
      mmap(nullptr, stack_bytes_ + kGuardBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  CHECK(mapping_ != MAP_FAILED,
        fmt::format("cannot map a stack of {} bytes", stack_bytes_));
  CHECK(mprotect(mapping_, kGuardBytes, PROT_NONE) == 0,
        "cannot protect a stack's guard page");
  stack_bottom_ = static_cast<char*>(mapping_) + kGuardBytes;
  StartOver();
}

void FiberContext::StartOver() {
#ifdef GAUNTLET_FIBER_ASAN
  // The addresses may have been another stack's before, and what was abandoned
  // leaves the marks of the frames that it left by.
  __asan_unpoison_memory_region(stack_bottom_, stack_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  thread_fiber_ = __tsan_create_fiber(0);
#endif
  exceptions_ = {};
  fake_stack_ = nullptr;
  self_ =
      fcontext::make_fcontext(static_cast<char*>(stack_bottom_) + stack_bytes_,
                              stack_bytes_, &Bottom::Run);
}

FiberContext::~FiberContext() {
  CHECK(done_, "a fiber's stack is freed while something runs on it");
  Switch();
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_destroy_fiber(thread_fiber_);
#endif
  munmap(mapping_, stack_bytes_ + kGuardBytes);
}

void FiberContext::Begin(std::function<void()> body) {
  CHECK(done_, "a fiber's stack is taken while something runs on it");
  body_ = std::move(body);
  done_ = false;
}

bool FiberContext::Resume() {
  void* const of_thread = abi::__cxa_get_globals();
  SwapExceptionState(of_thread, exceptions_);
  Switch();
  SwapExceptionState(of_thread, exceptions_);
  if (std::exchange(abandoned_, false)) {
    body_ = nullptr;
#ifdef GAUNTLET_FIBER_TSAN
    __tsan_destroy_fiber(thread_fiber_);
#endif
    StartOver();
  }
  return !done_;
}

void FiberContext::Suspend() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, caller_bottom_, caller_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller_, 0);
#endif
  caller_ = fcontext::jump_fcontext(caller_, nullptr).fctx;
  Arrived();
}

void FiberContext::Abandon() {
#ifdef GAUNTLET_FIBER_ASAN
  // As before a throw: what frames mark as theirs is free once they are gone.
  __asan_handle_no_return();
#endif
  unwinding_ = {};
  CannotUnwind(_Unwind_ForcedUnwind(&unwinding_, &StopAtBottom, this));
}

_Unwind_Reason_Code FiberContext::StopAtBottom(int /*version*/,
                                               _Unwind_Action /*actions*/,
                                               _Unwind_Exception_Class /*type*/,
                                               _Unwind_Exception* /*exception*/,
                                               _Unwind_Context* frame,
                                               void* context) {
  if (!Bottom::Has(frame)) return _URC_NO_REASON;
  auto* const self = static_cast<FiberContext*>(context);
  self->done_ = true;
  self->abandoned_ = true;
  self->SwitchForGood();
}

void FiberContext::Switch() {
#ifdef GAUNTLET_FIBER_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_bottom_, stack_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  thread_caller_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_fiber_, 0);
#endif
  self_ = fcontext::jump_fcontext(self_, this).fctx;
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void FiberContext::Arrived() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_, &caller_bytes_);
#endif
}

void FiberContext::SwitchForGood() {
#ifdef GAUNTLET_FIBER_ASAN
  __sanitizer_start_switch_fiber(nullptr, caller_bottom_, caller_bytes_);
#endif
#ifdef GAUNTLET_FIBER_TSAN
  __tsan_switch_to_fiber(thread_caller_, 0);
#endif
  fcontext::jump_fcontext(caller_, nullptr);
  CHECK(false, "a fiber that left for good was resumed");
  __builtin_unreachable();
}

void FiberContext::SwapExceptionState(void* of_thread, ExceptionState& state) {
  ExceptionState kept;
  std::memcpy(&kept, of_thread, sizeof(kept));
  std::memcpy(of_thread, &state, sizeof(state));
  state = kept;
}

FiberPool::FiberPool(size_t stack_bytes) : stack_bytes_(stack_bytes) {}

FiberPool::~FiberPool() = default;

std::unique_ptr<FiberContext> FiberPool::Take() {
  if (idle_.empty()) return std::make_unique<FiberContext>(stack_bytes_);
  std::unique_ptr<FiberContext> context = std::move(idle_.back());
  idle_.pop_back();
  return context;
}

void FiberPool::Put(std::unique_ptr<FiberContext> context) {
  idle_.push_back(std::move(context));
}

}  // namespace gauntlet
