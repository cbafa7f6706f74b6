#include "chaos/sim/scheduler/fiber.h"

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

struct Script {
  FiberContext* context = nullptr;
  std::vector<std::string> log;
};

TEST(FiberTest, AlternatesWithItsCaller) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin([&script] {
    script.log.push_back("fiber 1");
    script.context->Suspend();
    script.log.push_back("fiber 2");
  });
  EXPECT_TRUE(context->Resume());
  script.log.push_back("caller");
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"fiber 1", "caller", "fiber 2"}));
}

TEST(FiberTest, AStackThatCannotBeMappedIsMemoryThatRanOut) {
  EXPECT_THROW(FiberContext(size_t{1} << 60), std::bad_alloc);
}

TEST(FiberTest, AStackServesManyBodies) {
  FiberPool pool;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    auto context = pool.Take();
    context->Begin([&runs] { ++runs; });
    EXPECT_FALSE(context->Resume());
    pool.Put(std::move(context));
  }
  EXPECT_EQ(runs, 100);
}

void SuspendInCatch(Script& s) {
  try {
    throw std::runtime_error(s.log.back());
  } catch (const std::runtime_error&) {
    s.context->Suspend();
    try {
      throw;
    } catch (const std::runtime_error& again) {
      s.log.push_back(std::string("caught ") + again.what());
    }
  }
}

TEST(FiberTest, ExceptionsInFlightBelongToTheirFiber) {
  FiberPool pool;
  Script one{.context = nullptr, .log = {"one"}};
  Script two{.context = nullptr, .log = {"two"}};
  auto first = pool.Take();
  auto second = pool.Take();
  one.context = first.get();
  two.context = second.get();
  first->Begin([&one] { SuspendInCatch(one); });
  second->Begin([&two] { SuspendInCatch(two); });
  EXPECT_TRUE(first->Resume());
  EXPECT_TRUE(second->Resume());
  EXPECT_FALSE(first->Resume());
  EXPECT_FALSE(second->Resume());
  EXPECT_EQ(one.log.back(), "caught one");
  EXPECT_EQ(two.log.back(), "caught two");
}

TEST(FiberTest, AnotherOneGoesOnInItsPlace) {
  FiberPool pool;
  auto first = pool.Take();
  auto second = pool.Take();
  std::vector<std::string> log;
  first->Begin([&] {
    log.push_back("first begins");
    first->SuspendFor(*second);
    log.push_back("first ends");
  });
  second->Begin([&] {
    log.push_back("second begins");
    second->Suspend();
    second->SuspendFor(*first);
    log.push_back("second ends");
  });
  EXPECT_TRUE(first->Resume());
  log.push_back("caller");
  EXPECT_FALSE(second->Resume());
  EXPECT_FALSE(second->Resume());
  EXPECT_EQ(log,
            (std::vector<std::string>{"first begins", "second begins", "caller",
                                      "first ends", "second ends"}));
}

TEST(FiberTest, ExceptionsInFlightStayWhereAnotherOneGoesOn) {
  FiberPool pool;
  auto first = pool.Take();
  auto second = pool.Take();
  std::vector<std::string> log;
  const auto note = [&log](const std::exception_ptr& in_flight) {
    log.push_back(in_flight == nullptr ? "none" : "one");
  };
  first->Begin([&] {
    try {
      throw std::runtime_error("of the first");
    } catch (const std::runtime_error& error) {
      first->SuspendFor(*second);
      note(std::current_exception());
      log.push_back(error.what());
    }
  });
  second->Begin([&] {
    note(std::current_exception());
    try {
      throw std::runtime_error("of the second");
    } catch (const std::runtime_error&) {
      second->Suspend();
      second->Abandon();
    }
  });
  EXPECT_TRUE(first->Resume());
  note(std::current_exception());
  EXPECT_FALSE(second->Resume());
  note(std::current_exception());
  EXPECT_FALSE(first->Resume());
  EXPECT_EQ(log, (std::vector<std::string>{"none", "none", "none", "one",
                                           "of the first"}));
}

// The second context is abandoned, although the first one was resumed.
TEST(FiberTest, OneMayBeAbandonedInAnothersTurn) {
  FiberPool pool;
  auto first = pool.Take();
  auto second = pool.Take();
  std::vector<std::string> log;
  first->Begin([&] {
    first->SuspendFor(*second);
    log.push_back("first goes on");
  });
  second->Begin([&] { second->Abandon(); });
  EXPECT_FALSE(first->Resume());
  second->Begin([&] { log.push_back("second again"); });
  EXPECT_FALSE(second->Resume());
  EXPECT_FALSE(first->Resume());
  EXPECT_EQ(log, (std::vector<std::string>{"second again", "first goes on"}));
}

// Logs its name when it is destroyed.
struct Witness {
  Script& script;
  std::string name;
  ~Witness() { script.log.push_back(name); }
};

// Each frame holds a witness; the last one is abandoned.
void Descend(Script& script, int depth) {
  const Witness witness{script, std::to_string(depth)};
  if (depth < 3) {
    Descend(script, depth + 1);
    script.log.push_back("came back");
  }
  script.context->Suspend();
  if (depth == 3) script.context->Abandon();
}

TEST(FiberTest, AnAbandonedBodyIsDestroyedFromTheTopOfItsStack) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  for (int round = 0; round < 100; ++round) {
    script.log.clear();
    context->Begin([&script] { Descend(script, 1); });
    EXPECT_TRUE(context->Resume());
    EXPECT_TRUE(script.log.empty());
    EXPECT_FALSE(context->Resume());
    EXPECT_EQ(script.log, (std::vector<std::string>{"3", "2", "1"}));
  }
  pool.Put(std::move(context));
}

TEST(FiberTest, WhatABodyHoldsGoesAfterAllOnItsStack) {
  FiberPool pool;
  auto context = pool.Take();
  Script script{.context = context.get(), .log = {}};
  for (const bool abandons : {false, true}) {
    script.log.clear();
    context->Begin(
        [&script, abandons,
         held = std::shared_ptr<Witness>(new Witness{script, "held"})] {
          const Witness local{script, "local"};
          script.context->Suspend();
          if (abandons) script.context->Abandon();
        });
    EXPECT_TRUE(context->Resume());
    EXPECT_TRUE(script.log.empty());
    EXPECT_FALSE(context->Resume());
    EXPECT_EQ(script.log, (std::vector<std::string>{"local", "held"}));
  }
}

void AbandonInCatch(Script& s) {
  try {
    const Witness outer{s, "outer"};
    try {
      throw std::runtime_error("one");
    } catch (const std::runtime_error&) {
      const Witness inner{s, "inner"};
      s.context->Suspend();
      s.context->Abandon();
    }
  } catch (const std::runtime_error&) {
    s.log.push_back("took it for an exception");
  } catch (...) {
    s.log.push_back("passed through");
    throw;
  }
}

TEST(FiberTest, AnAbandonedBodyMayHaveAnExceptionInFlight) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin([&script] { AbandonInCatch(script); });
  EXPECT_TRUE(context->Resume());
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"inner", "outer", "passed through"}));
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  // The next body on this context finds no exception state.
  context->Begin([&script] {
    script.log.push_back(std::to_string(std::uncaught_exceptions()));
  });
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log.back(), "0");
  script.log = {"again"};
  context->Begin([&script] { SuspendInCatch(script); });
  EXPECT_TRUE(context->Resume());
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log.back(), "caught again");
}

}  // namespace
}  // namespace gauntlet
