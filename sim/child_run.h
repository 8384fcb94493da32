// A computation in a forked child that fills shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace slackline::sim {

/// Anonymous memory that a process shares with the children it forks. Zero at first.
class SharedMemory {
 public:
  /// Throws EnvironmentError if there is none to be had.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return data_; }
  /// Nobody looks at the first `bytes` any more: gives back what they take.
  void forget_front(std::size_t bytes) const;

 private:
  void* data_;
  std::size_t bytes_;
};

/// A file in memory that has no name: a child may write there whatever it has to say.
class ScratchFile {
 public:
  /// Throws EnvironmentError if there is none to be had.
  ScratchFile();
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  int descriptor() const { return descriptor_; }
  /// By which this process and its children can open it.
  std::string path() const;
  /// Throws EnvironmentError if there is no room.
  void write(std::string_view text) const;
  std::string contents() const;

 private:
  int descriptor_;
};

/// Runs `work(0)` … `work(count − 1)`, each in a child of its own, up to `at_once` at a time. Calls
/// `ended`, if there is one, after each that has. Throws as run_in_child(); after an error no more
/// are begun, and of several errors the one with the lowest number is thrown. Not to be called
/// while this process has other children.
void run_in_children(std::uint32_t count, std::uint32_t at_once,
                     const std::function<void(std::uint32_t)>& work,
                     const std::function<void()>& ended = {});

/// Runs `work` in a child and waits for it. What the child throws is thrown here again, with its
/// kind; a child that dies is an InternalError that says how. Throws EnvironmentError if there can
/// be no child.
/// Neither child outlives the thread that calls, whatever ends that.
/// While it waits it calls `waiting`, if there is one, some ten times a second.
void run_in_child(const std::function<void()>& work, const std::function<void()>& waiting = {});

}  // namespace slackline::sim
