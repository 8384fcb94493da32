// The numbers of MLCommons Chakra's schema 1.0 for execution traces (et_def.proto) that Slackline
// reads and writes.
#pragma once

#include <cstdint>

namespace slackline::sched::chakra {

namespace metadata_field {
inline constexpr std::uint32_t kVersion = 1, kAttribute = 2;
}
namespace node_field {
inline constexpr std::uint32_t kId = 1, kName = 2, kType = 3, kControlDependencies = 4,
                               kDataDependencies = 5, kDuration = 7, kAttribute = 10;
}
namespace attribute_field {
inline constexpr std::uint32_t kName = 1, kFirstValue = 3, kInt32 = 7, kInt64 = 9, kUint32 = 11,
                               kUint64 = 13, kSint32 = 15, kSint64 = 17, kFixed32 = 19,
                               kFixed64 = 21, kSfixed32 = 23, kSfixed64 = 25, kBool = 27,
                               kBoolList = 28, kString = 29;
}
inline constexpr std::uint32_t kListValues = 1;  // of each list

namespace node_type {
inline constexpr std::int32_t kMetadata = 1, kCompute = 4, kSend = 5, kRecv = 6;
}
namespace collective_type {
inline constexpr std::int64_t kAllReduce = 0, kAllGather = 2, kBroadcast = 5, kAllToAll = 6,
                              kReduceScatter = 7, kBarrier = 9;
}

}  // namespace slackline::sched::chakra
