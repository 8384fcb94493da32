#include "base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/aside.h"
#include "base/descriptor.h"
#include "base/held_signals.h"

namespace slackline::sched {
namespace {

Sink into(int fd, const HeldSignals* held) {
  return [=](std::string_view piece) { write_all(fd, piece, held); };
}

// Whether there was room for it: the file system has files without a name, and this process can
// give one a name.
bool write_unnamed(const std::string& target, const Pieces& pieces,
                   const std::optional<struct stat>& replaced) {
  const std::string folder = folder_of(target);
  Descriptor file(::open(or_current(folder).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (!file || ::access("/proc/self/fd", X_OK) != 0) return false;
  if (replaced) take_after(file.get(), *replaced);
  pieces(into(file.get(), nullptr));
  const std::string self = fmt::format("/proc/self/fd/{}", file.get());
  const auto name = [&](const std::string& as) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, as.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (name(target)) return true;
  if (errno != EEXIST) return false;
  // A name cannot be given in place of another's, so it gets one of ours for a moment.
  const HeldSignals held;
  const std::string aside = new_name(folder, name);
  if (::rename(aside.c_str(), target.c_str()) == 0) return true;
  const int error = errno;
  ::unlink(aside.c_str());
  fail_as(error);
}

void write_named(const std::string& target, const Pieces& pieces,
                 const std::optional<struct stat>& replaced) {
  const HeldSignals held;
  int fd = -1;
  const std::string aside = new_name(folder_of(target), [&fd](const std::string& name) {
    fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd >= 0;
  });
  Descriptor file(fd);
  try {
    if (replaced) take_after(fd, *replaced);
    pieces(into(fd, &held));
    if (const int error = file.close()) fail_as(error);
    if (::rename(aside.c_str(), target.c_str()) != 0) fail_as(errno);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
}

void write_directly(const std::string& path, const Pieces& pieces) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) fail_as(errno);
  pieces(into(file.get(), nullptr));
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes, Aside aside) {
  write_file(path, Pieces([bytes](const Sink& out) { out(bytes); }), aside);
}

void write_file(const std::string& path, const Pieces& pieces, Aside aside) {
  try {
    const auto there = status_of(path);
    if (there && S_ISDIR(there->st_mode)) fail_as(EISDIR);
    if (there && !S_ISREG(there->st_mode)) return write_directly(path, pieces);
    if (there) require_writable_file(path, *there);
    const std::string target = followed(path);
    if (aside == Aside::kUnnamed && write_unnamed(target, pieces, there)) return;
    write_named(target, pieces, there);
  } catch (const SystemError& error) {
    fail_to_write(path, error);
  }
}

void require_writable(const std::string& path) {
  try {
    const auto there = status_of(path);
    if (there && S_ISDIR(there->st_mode)) fail_as(EISDIR);
    if (there) require_writable_file(path, *there);
    if (!there || S_ISREG(there->st_mode)) require_entries_in(folder_of(followed(path)));
  } catch (const SystemError& error) {
    fail_to_write(path, error);
  }
}

}  // namespace slackline::sched
