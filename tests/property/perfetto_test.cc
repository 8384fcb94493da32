// Perfetto's trace, decoded again by another reader of protocol buffers, against the intervals that
// it shows: of runs of random programs, and of traces of times that no run would have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "sched/export/timeline_intervals.h"
#include "sched/export/timeline_perfetto.h"
#include "tests/property/timeline_samples.h"

namespace slackline {
namespace {

using protozero::pbf_reader;
using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::TimelineInterval;
using sched::TimelineTrack;
using sched::Trace;

struct Slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;
  std::map<std::string, std::uint64_t> arguments;
  friend auto operator<=>(const Slice&, const Slice&) = default;
};

struct Track {
  std::string process;  // its name
  std::string name;
  std::vector<Slice> slices;  // in the order of the file
  bool open = false;
};

// What is said of tracks and slices; each step of the format is expected as it must be.
class Decoded {
 public:
  void read(const std::string& bytes) {
    pbf_reader trace(bytes);
    while (trace.next()) {
      ASSERT_EQ(trace.tag(), 1u);
      packet(trace.get_message());
    }
    for (const auto& [uuid, track] : tracks) EXPECT_FALSE(track.open) << uuid;
  }

  std::map<std::uint64_t, Track> tracks;
  std::map<std::uint64_t, std::uint64_t> flow_begin_ns;
  std::map<std::uint64_t, std::uint64_t> flow_end_ns;

 private:
  void packet(pbf_reader packet) {
    std::uint64_t time_ns = 0;
    std::uint32_t flags = 0;
    while (packet.next()) {
      switch (packet.tag()) {
        case 8:
          time_ns = packet.get_uint64();
          break;
        case 10:
          EXPECT_EQ(packet.get_uint32(), 1u);
          break;
        case 11:
          event(packet.get_message(), time_ns, flags);
          break;
        case 12:
          EXPECT_EQ(flags, 1u) << "interned names come with a cleared state";
          interned(packet.get_message());
          break;
        case 13:
          flags = packet.get_uint32();
          break;
        case 60:
          descriptor(packet.get_message());
          break;
        default:
          FAIL() << "packet has field " << packet.tag();
      }
    }
  }

  void interned(pbf_reader interned) {
    while (interned.next()) {
      auto& names = interned.tag() == 2 ? event_names_ : argument_names_;
      EXPECT_TRUE(interned.tag() == 2 || interned.tag() == 3);
      pbf_reader entry = interned.get_message();
      ASSERT_TRUE(entry.next(1));
      const std::uint64_t iid = entry.get_uint64();
      EXPECT_NE(iid, 0u);
      ASSERT_TRUE(entry.next(2));
      EXPECT_TRUE(names.emplace(iid, entry.get_string()).second);
    }
  }

  void descriptor(pbf_reader descriptor) {
    Track track;
    std::uint64_t uuid = 0;
    while (descriptor.next()) {
      switch (descriptor.tag()) {
        case 1:
          uuid = descriptor.get_uint64();
          break;
        case 2:
          track.name = descriptor.get_string();
          break;
        case 3: {
          pbf_reader process = descriptor.get_message();
          ASSERT_TRUE(process.next(1));
          const std::int32_t pid = process.get_int32();
          EXPECT_GT(pid, 0);
          ASSERT_TRUE(process.next(6));
          track.process = process.get_string();
          EXPECT_TRUE(processes_.emplace(pid, track.process).second);
          break;
        }
        case 4: {
          pbf_reader thread = descriptor.get_message();
          ASSERT_TRUE(thread.next(1));
          track.process = processes_.at(thread.get_int32());
          ASSERT_TRUE(thread.next(2));
          const std::int32_t tid = thread.get_int32();
          EXPECT_FALSE(processes_.contains(tid));
          EXPECT_TRUE(threads_.emplace(tid, uuid).second);
          ASSERT_TRUE(thread.next(5));
          track.name = thread.get_string();
          break;
        }
        case 5:
          track.process = tracks.at(descriptor.get_uint64()).process;
          break;
        default:
          FAIL() << "descriptor has field " << descriptor.tag();
      }
    }
    EXPECT_NE(uuid, 0u);
    EXPECT_TRUE(tracks.emplace(uuid, track).second);
  }

  void event(pbf_reader event, std::uint64_t time_ns, std::uint32_t flags) {
    int type = 0;
    std::uint64_t uuid = 0;
    Slice slice{time_ns, 0, "", {}};
    while (event.next()) {
      switch (event.tag()) {
        case 4: {
          pbf_reader annotation = event.get_message();
          ASSERT_TRUE(annotation.next(1));
          const std::string& name = argument_names_.at(annotation.get_uint64());
          ASSERT_TRUE(annotation.next(3));
          slice.arguments[name] = annotation.get_uint64();
          break;
        }
        case 9:
          type = event.get_enum();
          break;
        case 10:
          EXPECT_EQ(flags, 2u) << "interned names need the state";
          slice.name = event_names_.at(event.get_uint64());
          break;
        case 11:
          uuid = event.get_uint64();
          break;
        case 47:
          EXPECT_TRUE(flow_begin_ns.emplace(event.get_fixed64(), time_ns).second);
          break;
        case 48:
          EXPECT_TRUE(flow_end_ns.emplace(event.get_fixed64(), time_ns).second);
          break;
        default:
          FAIL() << "event has field " << event.tag();
      }
    }
    Track& track = tracks.at(uuid);
    EXPECT_EQ(track.open, type == 2) << "a track's slices come one after the other";
    track.open = type == 1;
    if (type == 1) {
      if (!track.slices.empty()) {
        EXPECT_GE(time_ns, track.slices.back().end_ns);
      }
      track.slices.push_back(slice);
    } else {
      ASSERT_EQ(type, 2);
      EXPECT_GE(time_ns, track.slices.back().begin_ns);
      track.slices.back().end_ns = time_ns;
    }
  }

  std::map<std::uint64_t, std::string> event_names_;
  std::map<std::uint64_t, std::string> argument_names_;
  std::map<std::int32_t, std::string> processes_;
  std::map<std::int32_t, std::uint64_t> threads_;
};

std::string written(const Schedule& schedule, const Trace& trace) {
  std::string bytes;
  sched::write_perfetto_timeline(schedule, trace, [&](std::string_view piece) {
    EXPECT_LE(piece.size(), std::size_t{1} << 17) << "not held whole";
    bytes += piece;
  });
  return bytes;
}

std::uint64_t rounded_ns(double time_s) {
  return static_cast<std::uint64_t>(std::llround(std::min(time_s * 1e9, 9.2e18)));
}

using Shown = std::vector<std::tuple<std::string, std::string, Slice>>;  // process, track, slice

Shown expected_slices(const Schedule& schedule, const Trace& trace) {
  Shown expected;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    for (const TimelineInterval& each : timeline_intervals(schedule, trace, RankId(r))) {
      const sched::Op& op = schedule.op(each.op);
      const std::string kind(name(op.kind));
      std::string track(name(each.track));
      if (each.track == TimelineTrack::kLane) track += ' ' + std::to_string(each.row);
      Slice slice{rounded_ns(each.begin_s),
                  rounded_ns(each.end_s),
                  each.posts ? "post " + kind : kind,
                  {{"op", each.op.value}}};
      if (!each.posts) {
        slice.arguments["step"] = op.step;
        slice.arguments["bytes"] = schedule.payload_bytes(op);
      }
      expected.emplace_back("rank " + std::to_string(r), track, std::move(slice));
    }
  }
  std::sort(expected.begin(), expected.end());
  return expected;
}

void expect_shown(const Schedule& schedule, const Trace& trace, const std::string& what) {
  Decoded decoded;
  decoded.read(written(schedule, trace));
  Shown shown;
  for (const auto& [uuid, track] : decoded.tracks) {
    for (const Slice& slice : track.slices) shown.emplace_back(track.process, track.name, slice);
  }
  std::sort(shown.begin(), shown.end());
  ASSERT_EQ(shown, expected_slices(schedule, trace)) << what;

  std::map<std::uint64_t, std::uint64_t> messages;  // to the receive or poll
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.op(OpId(i));
    if (!is_initiator(op.kind) || !op.match.valid()) continue;
    if (!std::isfinite(trace.ops[i].done_s)) continue;
    if (!std::isfinite(trace.ops[op.match.value].done_s)) continue;
    messages[i + 1] = op.match.value;
  }
  const auto flows = [](const std::map<std::uint64_t, std::uint64_t>& of) {
    std::vector<std::uint64_t> keys;
    for (const auto& [key, value] : of) keys.push_back(key);
    return keys;
  };
  EXPECT_EQ(flows(decoded.flow_begin_ns), flows(messages)) << what;
  EXPECT_EQ(flows(decoded.flow_end_ns), flows(messages)) << what;
}

TEST(Perfetto, ShowsWhatRandomRunsDid) { testing::for_runs(expect_shown); }

TEST(Perfetto, TakesTimesThatNoRunWouldHave) { testing::for_odd_traces(expect_shown); }

}  // namespace
}  // namespace slackline
