// How the examples of remote calls come to their ranks: all as processes of this host, or this
// process as one of several.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "hw/call.h"
#include "hw/local_port.h"
#include "hw/mesh.h"
#include "hw/rank_processes.h"
#include "hw/transports.h"

namespace slackline::examples {

/// The options that both examples have.
struct RankArguments {
  std::string transport = "shm";
  std::uint32_t ranks = 3;
  std::optional<std::uint32_t> rank;  // this process alone
  std::string root;
  hw::CallsOptions calls;

  /// Whether the option was one of these.
  bool take(const std::string& option, const std::string& value) {
    if (option == "--transport") {
      transport = value;
    } else if (option == "--ranks") {
      ranks = static_cast<std::uint32_t>(sched::parse_count(value, option, 1, 64));
    } else if (option == "--rank") {
      rank = static_cast<std::uint32_t>(sched::parse_count(value, option, 0, 63));
    } else if (option == "--root") {
      root = value;
    } else if (option == "--aggregate" && value == "none") {
      calls.aggregate = hw::Aggregate::kNone;
    } else if (option == "--aggregate" && value == "trad") {
      calls.aggregate = hw::Aggregate::kTrad;
    } else if (option == "--aggregate" && value == "ovfl") {
      calls.aggregate = hw::Aggregate::kOvfl;
    } else if (option == "--run-twice") {
      calls.fault = {hw::CallFault::Kind::kRunTwice,
                     sched::parse_count(value, option, 1, 1ull << 40)};
    } else if (option == "--drop") {
      calls.fault = {hw::CallFault::Kind::kDrop, sched::parse_count(value, option, 1, 1ull << 40)};
    } else {
      return false;
    }
    return true;
  }

  static constexpr const char* kUsage =
      "[--ranks N] [--transport NAME] [--aggregate none|trad|ovfl]\n"
      "       [--rank R --root HOST:PORT]   one of several processes of one user; rank 0 listens "
      "there\n"
      "       [--run-twice K | --drop K]    every rank runs its K-th call twice, or not at all";
};

/// Runs the body at each rank; what it answers is the program's status, 0 if all is well.
inline int run_ranks(const RankArguments& arguments, const std::function<int(hw::Calls&)>& body) {
  hw::require_transport(arguments.transport);
  hw::MeshOptions options;
  options.ranks = arguments.ranks;
  const auto be_rank = [&](std::uint32_t rank) -> hw::RankEnd {
    try {
      options.rank = rank;
      hw::Mesh mesh(options);
      hw::Calls calls(mesh, hw::make_transport(arguments.transport, {}), arguments.calls);
      const int status = body(calls);
      calls.finish();
      return {status, ""};
    } catch (const Error& error) {
      return {error.exit_code(), error.what()};
    } catch (const std::exception& error) {
      return {70, error.what()};
    }
  };
  hw::RankEnd end;
  if (arguments.rank) {
    if (arguments.root.empty() || *arguments.rank >= arguments.ranks) {
      throw InputError("--rank: expected --root beside it, and a rank below --ranks");
    }
    options.root = arguments.root;
    options.secret = hw::Secret::of_user();
    end = be_rank(*arguments.rank);
  } else {
    const hw::LocalPort port;
    options.root = port.address();
    options.root_socket = port.socket();
    options.secret = hw::Secret::random();
    hw::RankProcesses processes(0, arguments.ranks, be_rank);
    end = hw::most_telling(processes.wait(std::chrono::seconds(10)));
  }
  if (!end.message.empty()) fmt::print(stderr, "{}\n", end.message);
  return end.code;
}

/// What main() does: parses options, which come in pairs, and runs.
inline int run_example(int argc, char** argv, const char* usage, RankArguments& arguments,
                       const std::function<bool(const std::string&, const std::string&)>& take,
                       const std::function<int(hw::Calls&)>& body) {
  try {
    for (int i = 1; i < argc; i += 2) {
      const std::string option = argv[i];
      if (i + 1 == argc || !(take(option, argv[i + 1]) || arguments.take(option, argv[i + 1]))) {
        throw InputError(fmt::format("usage: {} {}", usage, RankArguments::kUsage));
      }
    }
    return run_ranks(arguments, body);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.exit_code();
  }
}

}  // namespace slackline::examples
