#include "hw/launch/key_exchange.h"

#include <sys/stat.h>

#include <optional>

#include "base/number.h"
#include "hw/descriptor.h"
#include "hw/launch/pmi1.h"
#include "hw/launch/pmix.h"

namespace slackline::hw {
namespace {

std::optional<std::uint32_t> number(const Environment& environment, const std::string& name) {
  const auto text = environment(name);
  return text ? base::whole_number<std::uint32_t>(*text) : std::nullopt;
}

// A process between the launcher and this one may have closed it, and the number be another file's.
bool is_socket(int descriptor) {
  struct stat about = {};
  return fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode);
}

bool has_pmix_server(const Environment& environment) {
  for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                           "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"}) {
    if (environment(name)) return true;
  }
  return false;
}

}  // namespace

LauncherKeys key_exchange_of(const Environment& environment, const LaunchPlace& place) {
  if (environment("PMIX_NAMESPACE") && number(environment, "PMIX_RANK") == place.rank &&
      has_pmix_server(environment) &&
      (place.launcher == Launcher::kOpenMpi || place.launcher == Launcher::kSlurm)) {
    return {ExchangeKind::kPmix, -1};
  }
  const auto descriptor = number(environment, "PMI_FD");
  constexpr std::uint32_t kMostDescriptor = 1u << 20;
  if (descriptor && *descriptor > 2 && *descriptor < kMostDescriptor &&
      place.launcher != Launcher::kOpenMpi && number(environment, "PMI_RANK") == place.rank &&
      number(environment, "PMI_SIZE") == place.ranks && is_socket(static_cast<int>(*descriptor))) {
    return {ExchangeKind::kPmi1, static_cast<int>(*descriptor)};
  }
  return {};
}

LauncherKeys key_exchange_of_process(const LaunchPlace& place) {
  return key_exchange_of(environment_of_process(), place);
}

SharedWord share_word(const LauncherKeys& exchange, std::uint32_t rank, const std::string& word,
                      std::chrono::milliseconds patience) {
  if (exchange.kind == ExchangeKind::kPmi1) {
    return share_by_pmi1(Descriptor(exchange.descriptor), rank, word, patience);
  }
  if (exchange.kind == ExchangeKind::kPmix) return share_by_pmix(rank, word, patience);
  return {"", "the launcher exchanges no keys"};
}

}  // namespace slackline::hw
