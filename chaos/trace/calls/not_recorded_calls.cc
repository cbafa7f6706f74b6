// Calls that may change a file in a way that no operation describes: they are
// noted.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_numbers.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace gauntlet {
namespace {

constexpr std::string_view kAttributes =
    "extended attributes are not recorded: crash states lack them";
constexpr std::string_view kOwners =
    "owners are not recorded: the files of crash states belong to this user";
constexpr std::string_view kMounts =
    "changes in a file system that the program mounts are not recorded";
constexpr std::string_view kRequests =
    "allocation by ioctl is not recorded: crash states may lack its effect; "
    "fallocate is recorded";
constexpr std::string_view kSpecialFiles =
    "devices, FIFOs and sockets are not recorded: crash states lack them";

// The arguments of a call that name the file that it changes.
enum class Object : uint8_t {
  kDescriptor,    // the first: a descriptor
  kPath,          // the first: a path; links are followed
  kLink,          // the first: a path; links are not followed
  kPathAt,        // the first two: a directory and a path
  kSecondPath,    // the second: a path
  kSecondPathAt,  // the third and fourth: a directory and a path
};

struct NotRecordedCall {
  int64_t number;
  std::string_view name;
  Object object;
  std::string_view meaning;
};

constexpr std::array kCalls = {
    NotRecordedCall{SYS_setxattr, "setxattr", Object::kPath, kAttributes},
    NotRecordedCall{SYS_lsetxattr, "lsetxattr", Object::kLink, kAttributes},
    NotRecordedCall{SYS_fsetxattr, "fsetxattr", Object::kDescriptor,
                    kAttributes},
    NotRecordedCall{SYS_setxattrat, "setxattrat", Object::kPathAt, kAttributes},
    NotRecordedCall{SYS_removexattr, "removexattr", Object::kPath, kAttributes},
    NotRecordedCall{SYS_lremovexattr, "lremovexattr", Object::kLink,
                    kAttributes},
    NotRecordedCall{SYS_fremovexattr, "fremovexattr", Object::kDescriptor,
                    kAttributes},
    NotRecordedCall{SYS_removexattrat, "removexattrat", Object::kPathAt,
                    kAttributes},
    NotRecordedCall{SYS_chown, "chown", Object::kPath, kOwners},
    NotRecordedCall{SYS_lchown, "lchown", Object::kLink, kOwners},
    NotRecordedCall{SYS_fchown, "fchown", Object::kDescriptor, kOwners},
    NotRecordedCall{SYS_fchownat, "fchownat", Object::kPathAt, kOwners},
    NotRecordedCall{SYS_mount, "mount", Object::kSecondPath, kMounts},
    NotRecordedCall{SYS_move_mount, "move_mount", Object::kSecondPathAt,
                    kMounts},
    NotRecordedCall{SYS_ioctl, "ioctl", Object::kDescriptor, kRequests},
};

const NotRecordedCall* Find(int64_t number) {
  for (const NotRecordedCall& one : kCalls) {
    if (one.number == number) return &one;
  }
  return nullptr;
}

// Returns true if a chown call sets the owner and group that the file has
// already.
bool KeepsOwner(const SystemCall& call, const struct stat& status) {
  const size_t owner = call.number == SYS_fchownat ? 2 : 1;
  const auto keeps = [](uint64_t argument, uint32_t id) {
    const auto given = static_cast<uint32_t>(argument);
    return given == UINT32_MAX || given == id;
  };
  return keeps(call.arguments[owner], status.st_uid) &&
         keeps(call.arguments[owner + 1], status.st_gid);
}

}  // namespace

Descriptor FileCalls::ObjectOf(Caller caller, const SystemCall& call) const {
  switch (Find(call.number)->object) {
    case Object::kDescriptor:
      return OpenName(DescriptorPath(caller.thread, call.Int(0)));
    case Object::kPath:
      return OpenName(PathOf(caller, AT_FDCWD, call.arguments[0]));
    case Object::kLink:
      return OpenName(PathOf(caller, AT_FDCWD, call.arguments[0]), O_NOFOLLOW);
    case Object::kPathAt:
      return OpenName(PathOf(caller, call.Int(0), call.arguments[1]));
    case Object::kSecondPath:
      return OpenName(PathOf(caller, AT_FDCWD, call.arguments[1]));
    case Object::kSecondPathAt:
      return OpenName(PathOf(caller, call.Int(2), call.arguments[3]));
  }
  return Descriptor();
}

void FileCalls::NoteNotRecorded(Caller caller, const SystemCall& call) {
  if (call.number == SYS_bind) return NoteSocket(caller, call);
  const Descriptor object = ObjectOf(caller, call);
  const auto name = files_.NameOfOpen(object.get());
  if (!name) return;
  const NotRecordedCall& found = *Find(call.number);
  const auto status = StatusOf(object.get());
  if (found.meaning == kOwners && status && KeepsOwner(call, *status)) return;
  recorder_.NoteNotRecorded(found.name, found.meaning, name->path);
}

void FileCalls::NoteSocket(Caller caller, const SystemCall& call) {
  const auto family = ReadObject<sa_family_t>(caller.thread, call.arguments[1]);
  if (family != AF_UNIX) return;
  // The name of an abstract socket begins with a zero byte, so its path is
  // empty.
  const std::string path = PathOf(
      caller, AT_FDCWD, call.arguments[1] + offsetof(sockaddr_un, sun_path));
  const WatchedPlace place = files_.Locate(path);
  if (place.name && !place.status) NoteSpecialFile("bind", *place.name);
}

void FileCalls::NoteSpecialFile(std::string_view call, const FileName& name) {
  recorder_.NoteNotRecorded(call, kSpecialFiles, name.path);
}

}  // namespace gauntlet
