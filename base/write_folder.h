// Folders written whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace slackline::sched {

/// The files of one folder, put in their places together. Until finish() they are kept aside, in
/// `.slackline-PID-N.tmp`, and SIGINT, SIGTERM, SIGHUP and SIGQUIT are held, in a process of one
/// thread; without finish(), or after such a signal, nothing of them is left.
class FolderWriter {
 public:
  /// The folder is made if it is not there, with those above it; files in it stay, unless one of
  /// the same name is written. Throws InputError, naming the path and the reason, as all below.
  explicit FolderWriter(const std::string& path);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// `name` is without a slash, and not given before.
  void write(const std::string& name, std::string_view bytes);
  void finish();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Says beforehand what a FolderWriter would find wrong with a place: throws as it does.
void require_writable_folder(const std::string& path);

}  // namespace slackline::sched
