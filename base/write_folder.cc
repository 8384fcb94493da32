#include "base/write_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/aside.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/held_signals.h"

namespace slackline::sched {
namespace {

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Those of `path` and the folders above it that are not there, the lowest first. Throws SystemError
// if something else is there, or nothing can be made in what is.
std::vector<std::string> folders_to_make(std::string path) {
  std::vector<std::string> missing;
  for (;;) {
    const auto there = status_of(path);
    if (there) {
      if (!S_ISDIR(there->st_mode)) fail_as(ENOTDIR);
      require_entries_in(path);
      return missing;
    }
    missing.push_back(path);
    path = or_current(without_slashes(folder_of(path)));
  }
}

}  // namespace

void require_writable_folder(const std::string& path) {
  try {
    if (path.empty()) fail_as(ENOENT);
    folders_to_make(followed(without_slashes(path)));
  } catch (const SystemError& error) {
    fail_to_write(path, error);
  }
}

struct FolderWriter::Work {
  HeldSignals held;
  std::string path;    // as it was given
  std::string folder;  // where it leads
  bool is_new = false;
  std::vector<std::string> made;  // folders above it, the highest first
  std::string aside;
  std::vector<std::string> names;
  bool done = false;

  explicit Work(const std::string& given) : path(given) {
    if (path.empty()) fail_as(ENOENT);
    folder = followed(without_slashes(path));
    std::vector<std::string> missing = folders_to_make(folder);
    is_new = !missing.empty();
    if (is_new) missing.erase(missing.begin());
    try {
      for (auto above = missing.rbegin(); above != missing.rend(); ++above) {
        if (::mkdir(above->c_str(), 0777) != 0) fail_as(errno);
        made.push_back(*above);
      }
      aside = new_name(is_new ? folder_of(folder) : folder + "/",
                       [](const std::string& name) { return ::mkdir(name.c_str(), 0777) == 0; });
    } catch (const SystemError&) {
      undo();
      throw;
    }
  }

  void write(const std::string& name, std::string_view bytes) {
    names.push_back(name);
    Descriptor file(
        ::open((aside + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file) fail_as(errno);
    if (const auto there = is_new ? std::nullopt : status_of(place(name))) {
      if (S_ISDIR(there->st_mode)) fail_as(EISDIR);
      require_writable_file(place(name), *there);
      take_after(file.get(), *there);
    }
    if (held.end_waits()) fail_as(EINTR);
    write_all(file.get(), bytes, &held);
    if (const int error = file.close()) fail_as(error);
  }

  void finish() {
    if (is_new) {
      if (::rename(aside.c_str(), folder.c_str()) != 0) fail_as(errno);
    } else {
      for (const std::string& name : names) {
        if (::rename((aside + "/" + name).c_str(), place(name).c_str()) != 0) fail_as(errno);
      }
      ::rmdir(aside.c_str());
    }
    done = true;
  }

  std::string place(const std::string& name) const { return followed(folder + "/" + name); }

  void undo() {
    if (done) return;
    for (const std::string& name : names) ::unlink((aside + "/" + name).c_str());
    if (!aside.empty()) ::rmdir(aside.c_str());
    for (auto above = made.rbegin(); above != made.rend(); ++above) ::rmdir(above->c_str());
    done = true;
  }
};

FolderWriter::FolderWriter(const std::string& path) {
  try {
    work_ = std::make_unique<Work>(path);
  } catch (const SystemError& error) {
    fail_to_write(path, error);
  }
}

FolderWriter::~FolderWriter() { work_->undo(); }

// Once something has failed all of it has: what waits may then end the process.
void FolderWriter::write(const std::string& name, std::string_view bytes) {
  try {
    work_->write(name, bytes);
  } catch (const InputError&) {
    work_->undo();
    throw;
  } catch (const SystemError& error) {
    work_->undo();
    fail_to_write(work_->path, error);
  }
}

void FolderWriter::finish() {
  try {
    work_->finish();
  } catch (const SystemError& error) {
    work_->undo();
    fail_to_write(work_->path, error);
  }
}

}  // namespace slackline::sched
