#include "sched/export/timeline_perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "sched/export/timeline.h"
#include "sched/export/timeline_intervals.h"

namespace slackline::sched {
namespace {

using protozero::pbf_writer;

// Field numbers of perfetto/protos, each in a namespace of its message.
namespace trace_field {
constexpr std::uint32_t kPacket = 1;
}
namespace packet_field {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;  // of kSequenceFlags
}  // namespace packet_field
namespace descriptor_field {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5;
constexpr std::uint32_t kProcessPid = 1, kProcessName = 6;
constexpr std::uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace descriptor_field
namespace interned_field {
constexpr std::uint32_t kEventNames = 2, kAnnotationNames = 3, kIid = 1, kName = 2;
}
namespace event_field {
constexpr std::uint32_t kAnnotations = 4, kType = 9, kNameIid = 10, kTrack = 11, kFlows = 47,
                        kEndingFlows = 48;
constexpr std::int32_t kBegin = 1, kEnd = 2;                          // of kType
constexpr std::uint32_t kAnnotationNameIid = 1, kAnnotationUint = 3;  // of an annotation
}  // namespace event_field

constexpr std::uint32_t kOnlySequence = 1;
constexpr std::size_t kPiece = 1 << 16;
constexpr double kMostNs = 9.2e18;  // of what Perfetto reads, 64 bits with a sign

constexpr std::string_view kPost = "post ";
constexpr std::array<std::string_view, 3> kAnnotationNames = {"op", "step", "bytes"};

// Interned names count from 1: the kinds, then their posts.
std::uint64_t name_iid(OpKind kind, bool posts) {
  return 1 + static_cast<std::uint64_t>(kind) + (posts ? kOpKinds : 0);
}

std::uint64_t in_ns(double time_s) {
  return static_cast<std::uint64_t>(std::round(std::clamp(time_s * 1e9, 0.0, kMostNs)));
}

class PacketWriter {
 public:
  PacketWriter(const Schedule& schedule, const Trace& trace, const Sink& out,
               const TimelineNics& nics)
      : schedule_(schedule), trace_(trace), out_(out), nics_(nics) {}

  void write() {
    names();
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) rank(RankId(r));
    out_(bytes_);
  }

 private:
  // Perfetto nests slices of a track, so those that overlap have tracks of their own.
  using TrackPlace = std::tuple<TimelineTrack, std::uint32_t, std::uint32_t>;  // row, part

  template <class Fill>
  void packet(const Fill& fill) {
    {
      pbf_writer all(bytes_);
      pbf_writer packet(all, trace_field::kPacket);
      packet.add_uint32(packet_field::kSequence, kOnlySequence);
      fill(packet);
    }
    if (bytes_.size() < kPiece) return;
    out_(bytes_);
    bytes_.clear();
  }

  static void intern(pbf_writer& interned, std::uint32_t field, std::uint64_t iid,
                     const std::string& text) {
    pbf_writer entry(interned, field);
    entry.add_uint64(interned_field::kIid, iid);
    entry.add_string(interned_field::kName, text);
  }

  void names() {
    packet([](pbf_writer& packet) {
      packet.add_uint32(packet_field::kSequenceFlags, packet_field::kStateCleared);
      pbf_writer interned(packet, packet_field::kInterned);
      for (int i = 0; i < kOpKinds; ++i) {
        const auto kind = static_cast<OpKind>(i);
        for (const bool posts : {false, true}) {
          intern(interned, interned_field::kEventNames, name_iid(kind, posts),
                 fmt::format("{}{}", posts ? kPost : "", name(kind)));
        }
      }
      for (std::size_t i = 0; i < kAnnotationNames.size(); ++i) {
        intern(interned, interned_field::kAnnotationNames, 1 + i, std::string(kAnnotationNames[i]));
      }
    });
  }

  void rank(RankId rank) {
    const std::uint64_t process = ++tracks_;
    packet([&](pbf_writer& packet) {
      pbf_writer track(packet, packet_field::kTrackDescriptor);
      track.add_uint64(descriptor_field::kUuid, process);
      pbf_writer fields(track, descriptor_field::kProcess);
      fields.add_int32(descriptor_field::kProcessPid, pid(rank));
      fields.add_string(descriptor_field::kProcessName, fmt::format("rank {}", rank.value));
    });
    std::map<TrackPlace, std::uint64_t> known;  // to their numbers
    for (const TimelineInterval& each : timeline_intervals(schedule_, trace_, rank, nics_)) {
      const auto [found, is_new] =
          known.try_emplace({each.track, each.row, each.part}, tracks_ + 1);
      const std::uint64_t track = found->second;
      if (is_new) describe(rank, process, each, ++tracks_);
      begin(each, track);
      packet([&](pbf_writer& packet) {
        packet.add_uint64(packet_field::kTimestamp, in_ns(each.end_s));
        pbf_writer event(packet, packet_field::kTrackEvent);
        event.add_enum(event_field::kType, event_field::kEnd);
        event.add_uint64(event_field::kTrack, track);
      });
    }
  }

  // 0 is the idle process.
  static std::int32_t pid(RankId rank) { return static_cast<std::int32_t>(rank.value) + 1; }

  // Threads have numbers beyond those of processes, as a process's own thread has its number.
  std::int32_t tid(std::uint64_t uuid) const {
    return static_cast<std::int32_t>(schedule_.rank_count() + uuid);
  }

  void describe(RankId rank, std::uint64_t process, const TimelineInterval& first,
                std::uint64_t uuid) {
    packet([&](pbf_writer& packet) {
      pbf_writer track(packet, packet_field::kTrackDescriptor);
      track.add_uint64(descriptor_field::kUuid, uuid);
      if (first.track != TimelineTrack::kLane) {
        track.add_uint64(descriptor_field::kParent, process);
        track.add_string(descriptor_field::kName, track_name(first, nics_));
        return;
      }
      pbf_writer thread(track, descriptor_field::kThread);
      thread.add_int32(descriptor_field::kThreadPid, pid(rank));
      thread.add_int32(descriptor_field::kThreadTid, tid(uuid));
      thread.add_string(descriptor_field::kThreadName,
                        fmt::format("{} {}", name(first.track), first.row));
    });
  }

  void begin(const TimelineInterval& each, std::uint64_t track) {
    const Op& op = schedule_.op(each.op);
    packet([&](pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, in_ns(each.begin_s));
      packet.add_uint32(packet_field::kSequenceFlags, packet_field::kNeedsState);
      pbf_writer event(packet, packet_field::kTrackEvent);
      event.add_enum(event_field::kType, event_field::kBegin);
      event.add_uint64(event_field::kNameIid, name_iid(op.kind, each.posts));
      event.add_uint64(event_field::kTrack, track);
      annotate(event, 1, each.op.value);
      if (each.posts) return;
      annotate(event, 2, op.step);
      annotate(event, 3, schedule_.payload_bytes(op));
      if (each.track == TimelineTrack::kLane) return;
      const OpId other = message_end(schedule_, trace_, each.op);
      if (!other.valid()) return;
      if (is_initiator(op.kind)) {
        event.add_fixed64(event_field::kFlows, flow(each.op));
      } else {
        event.add_fixed64(event_field::kEndingFlows, flow(other));
      }
    });
  }

  static void annotate(pbf_writer& event, std::uint64_t name_iid, std::uint64_t value) {
    pbf_writer annotation(event, event_field::kAnnotations);
    annotation.add_uint64(event_field::kAnnotationNameIid, name_iid);
    annotation.add_uint64(event_field::kAnnotationUint, value);
  }

  static std::uint64_t flow(OpId message) { return std::uint64_t{message.value} + 1; }

  const Schedule& schedule_;
  const Trace& trace_;
  const Sink& out_;
  const TimelineNics& nics_;
  std::string bytes_;  // packets that are not with the sink yet
  std::uint64_t tracks_ = 0;
};

}  // namespace

void write_perfetto_timeline(const Schedule& schedule, const Trace& trace, const Sink& out,
                             const TimelineNics& nics) {
  require_same(schedule, trace);
  PacketWriter(schedule, trace, out, nics).write();
}

}  // namespace slackline::sched
