// Ranks that call each other, as processes of their own, and what they tell the test.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/call.h"
#include "hw/mesh.h"
#include "hw/transports.h"
#include "tests/hw/in_order_transport.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline::testing {

/// A provider's name, perhaps with "+ordered": whose completions come in order.
inline std::unique_ptr<hw::Transport> call_transport(const std::string& name) {
  const std::string provider = name.substr(0, name.find('+'));
  hw::TransportOptions options;
  if (provider != "shm") options.host = "127.0.0.1";
  std::unique_ptr<hw::Transport> transport = hw::make_transport(provider, options);
  if (provider == name) return transport;
  return std::make_unique<InOrderTransport>(std::move(transport));
}

/// Small chunks, so that a test sees many of them.
inline hw::CallsOptions small_chunks() {
  hw::CallsOptions options;
  options.chunk_bytes = 4096;
  options.record_bytes = 4096;
  options.chunk_limit = 6;
  return options;
}

class CallRanks {
 public:
  using Say = MeshRanks::Say;
  using Body = std::function<void(hw::Calls&, const Say&)>;

  /// Starts `ranks` of them; each has Calls and runs body, which ends with finish().
  CallRanks(std::uint32_t ranks, const std::string& provider, const hw::CallsOptions& options,
            const Body& body) {
    ranks_.start_all(ranks, [=](const hw::MeshOptions& mesh_options, const Say& say) {
      hw::Mesh mesh(mesh_options);
      hw::Calls calls(mesh, call_transport(provider), options);
      body(calls, say);
    });
  }

  MeshRanks& processes() { return ranks_; }

  /// What each said until it ended.
  std::vector<std::string> said(std::size_t rank) {
    std::vector<std::string> lines;
    while (true) {
      lines.push_back(ranks_.next(rank));
      if (lines.back() == "(silence)") return lines;
      if (lines.back() == "(end)") break;
    }
    lines.pop_back();
    return lines;
  }
  std::vector<std::vector<std::string>> said() {
    std::vector<std::vector<std::string>> all;
    for (std::size_t r = 0; r < ranks_.size(); ++r) all.push_back(said(r));
    return all;
  }

 private:
  MeshRanks ranks_;
};

/// What it says of such an error; "(nothing)": there was none.
template <class Thrown, class Do>
std::string thrown_by(Do&& something) {
  try {
    something();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "(nothing)";
}

/// What a rank finds wrong, in lines.
class Checks {
 public:
  explicit Checks(const CallRanks::Say& say) : say_(say) {}
  void operator()(bool holds, const std::string& what) {
    if (holds) return;
    ++wrong_;
    if (wrong_ <= 5) say_("WRONG: " + what);
  }
  void done() {
    if (wrong_ == 0) say_("right");
  }

 private:
  const CallRanks::Say& say_;
  int wrong_ = 0;
};

/// All ranks do the same, and find nothing wrong.
inline void expect_all_right(std::uint32_t ranks, const std::string& provider,
                             const hw::CallsOptions& options,
                             const std::function<void(hw::Calls&, Checks&)>& body) {
  CallRanks all(ranks, provider, options, [&](hw::Calls& calls, const CallRanks::Say& say) {
    Checks check(say);
    body(calls, check);
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), ::testing::Each(::testing::ElementsAre("right")));
}

}  // namespace slackline::testing
