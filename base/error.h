// What can go wrong, and whose fault it is. Every error is one line: what, where, what was
// expected.
#pragma once

#include <stdexcept>
#include <string>

namespace slackline {

/// The root of what Slackline throws. `exit_code` is what the program ends with.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int exit_code)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// The user's input is wrong: an unknown name, a size out of range, a malformed file.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(message, 2) {}
};

/// The input is sound, but this consumer does not handle it. The message names the operation.
class Unsupported : public Error {
 public:
  explicit Unsupported(const std::string& message) : Error(message, 2) {}
};

/// The machine lacks something. The message says how to get it.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message) : Error(message, 3) {}
};

/// Our own defect: an invariant that no input may break has been broken.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error(message, 70) {}
};

}  // namespace slackline
