#include "harness/trainer/run/file_reads.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// A file that is only mapped causes no access event, so the event of its
// closing counts as a read too.
constexpr uint32_t kReads = IN_ACCESS | IN_CLOSE_NOWRITE;
constexpr uint32_t kNew = IN_CREATE | IN_MOVED_TO | IN_MODIFY;
constexpr size_t kEventBuffer = size_t{64} << 10U;

}  // namespace

FileReadWatch::FileReadWatch(Descriptor events, Descriptor stop)
    : events_(std::move(events)), stop_(std::move(stop)) {}

Result<std::unique_ptr<FileReadWatch>> FileReadWatch::Start(
    const std::vector<std::string>& directories) {
  Descriptor events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events.valid()) return PosixError(errno, "inotify", "init");
  Descriptor stop(eventfd(0, EFD_CLOEXEC));
  if (!stop.valid()) return PosixError(errno, "eventfd", "create");
  std::unique_ptr<FileReadWatch> watch(
      new FileReadWatch(std::move(events), std::move(stop)));
  for (uint32_t i = 0; i < directories.size(); ++i) {
    RETURN_IF_ERROR(watch->Add({.directory = i, .path = ""}, directories[i]));
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(directories[i],
                                                             error);
         !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
      std::error_code unreadable;
      if (entry->symlink_status(unreadable).type() !=
          std::filesystem::file_type::directory) {
        continue;
      }
      RETURN_IF_ERROR(watch->Add(
          {.directory = i,
           .path = entry->path().lexically_relative(directories[i]).string()},
          entry->path().string()));
    }
    if (error) return PosixError(error.value(), directories[i], "list");
  }
  watch->collector_ = std::thread([&one = *watch] { one.Collect(); });
  return watch;
}

FileReadWatch::~FileReadWatch() { Stop(); }

Status FileReadWatch::Add(const FileRead& directory, const std::string& path) {
  const int watch = inotify_add_watch(events_.get(), path.c_str(),
                                      kReads | kNew | IN_ONLYDIR);
  if (watch < 0) return PosixError(errno, path, "inotify");
  places_[watch] = directory;
  return OkStatus();
}

void FileReadWatch::Collect() {
  std::array<pollfd, 2> ready = {
      pollfd{.fd = events_.get(), .events = POLLIN, .revents = 0},
      pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while (true) {
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    TakeEvents();
    if ((ready[1].revents & POLLIN) != 0) return;
  }
}

void FileReadWatch::TakeEvents() {
  alignas(inotify_event) std::array<char, kEventBuffer> buffer;
  while (true) {
    const ssize_t count = read(events_.get(), buffer.data(), buffer.size());
    if (count <= 0) return;
    for (size_t at = 0; at < static_cast<size_t>(count);) {
      const auto& event =
          *reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) reads_.is_complete = false;
      const auto place = places_.find(event.wd);
      if (place == places_.end() || event.len == 0) continue;
      if ((event.mask & IN_ISDIR) != 0) continue;
      FileRead file = place->second;
      file.path += (file.path.empty() ? "" : "/") + std::string(event.name);
      const bool is_read = (event.mask & kReads) != 0;
      if (!known_.insert({is_read, file}).second) continue;
      if (!is_read) {
        reads_.made.push_back(std::move(file));
      } else if (!known_.contains({false, file})) {
        reads_.files.push_back(std::move(file));
      }
    }
  }
}

FileReads FileReadWatch::Stop() {
  if (collector_.joinable()) {
    const uint64_t one = 1;
    const ssize_t ignored = write(stop_.get(), &one, sizeof one);
    static_cast<void>(ignored);
    collector_.join();
  }
  return std::exchange(reads_, {});
}

}  // namespace gauntlet
