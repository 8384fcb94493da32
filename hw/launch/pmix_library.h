// The part of PMIx's interface that Slackline calls, as the PMIx standard (4.1, and 2.0 to 5.0
// alike) lays it out: so that nobody needs its headers, and the library only who is started by it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace slackline::hw {

/// pmix_proc_t.
struct PmixProc {
  std::array<char, 256> space{};
  std::uint32_t rank = 0;
};

/// pmix_value_t.
struct PmixValue {
  static constexpr std::uint16_t kBool = 1;
  static constexpr std::uint16_t kString = 3;
  std::uint16_t type = 0;
  union {
    bool flag;
    char* string;
    std::array<std::uint64_t, 3> all{};
  };
};

/// pmix_info_t.
struct PmixInfo {
  std::array<char, 512> key{};
  std::uint32_t flags = 0;
  PmixValue value;
};

static_assert(sizeof(PmixProc) == 260 && offsetof(PmixValue, string) == 8 &&
              sizeof(PmixValue) == 32 && offsetof(PmixInfo, value) == 520);

struct PmixLibrary {
  static constexpr int kSuccess = 0;
  static constexpr std::uint8_t kGlobal = 3;

  int (*init)(PmixProc* own, PmixInfo* info, std::size_t count) = nullptr;
  int (*put)(std::uint8_t scope, const char* key, PmixValue* value) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const PmixProc* of, std::size_t count, const PmixInfo* info,
               std::size_t info_count) = nullptr;
  int (*get)(const PmixProc* of, const char* key, const PmixInfo* info, std::size_t count,
             PmixValue** value) = nullptr;
  int (*finalize)(const PmixInfo* info, std::size_t count) = nullptr;
  const char* (*error_text)(int status) = nullptr;
};

/// Throws EnvironmentError where it is missing.
PmixLibrary load_pmix_library();

}  // namespace slackline::hw
