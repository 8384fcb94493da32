// The steps of writing something aside before it takes its place. For write_file.cc and
// write_folder.cc; all of them throw SystemError.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/held_signals.h"

namespace slackline::sched {

/// The number of an error, thrown where the path that the user gave is not known.
struct SystemError {
  int number;
};

[[noreturn]] void fail_as(int error);

/// Throws InputError: why `path`, as the user gave it, cannot be written.
[[noreturn]] void fail_to_write(const std::string& path, std::string_view why);
[[noreturn]] void fail_to_write(const std::string& path, const SystemError& error);

/// With its slash; empty for the current one.
std::string folder_of(const std::string& path);

/// "." for the empty name of a folder.
std::string or_current(const std::string& folder);

/// Where a chain of symbolic links at the end of `path` leads, whether there is something or not,
/// so that a file takes the place of what is named and not of the link.
std::string followed(std::string path);

/// Nothing if there is nothing.
std::optional<struct stat> status_of(const std::string& path);

/// Whether the file there may be replaced. Root may write to any file, yet one that nobody is to
/// write to was meant to stay; of that it throws InputError.
void require_writable_file(const std::string& path, const struct stat& status);

void require_entries_in(const std::string& folder);

/// Writes all of it, and stops in between at a signal that ends the process, if `held` is given.
void write_all(int fd, std::string_view bytes, const HeldSignals* held);

/// Calls `make` with names of ours in `folder` (with its slash) until it makes something there; it
/// answers false and leaves errno if it does not.
std::string new_name(const std::string& folder,
                     const std::function<bool(const std::string&)>& make);

/// The file gets the permissions of the one it replaces, and its owner if that can be.
void take_after(int fd, const struct stat& status);

}  // namespace slackline::sched
