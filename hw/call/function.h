// How a function is named to another process: by the offset of its invoker from the beginning of
// the loaded object (program or shared library) that it is linked into. Address randomisation moves
// objects as a whole, so that the offset is the same in every process that runs the same build,
// which is checked when ranks join (hw/call/code.h).
//
// What a peer names is run only if it is one of the functions that the object calls somewhere. Each
// such function is a node of a list, which is made before main() begins and never changed after:
// the linker itself keeps no table of what templates were made for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace slackline::hw {

class CallContext;

extern "C" {
/// Where the object begins that the code is linked into: every linker defines it.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
}

/// Of the object of whoever calls it.
__attribute__((visibility("hidden"))) inline const char* code_anchor() { return __ehdr_start; }

/// Runs a function that stands as bytes: its captures, in `closure`. `result`: what it returns.
using Invoker = void (*)(CallContext& here, const std::byte* closure, std::span<std::byte> buffer,
                         std::vector<std::byte>& result);

/// A function for another process.
struct FunctionName {
  const char* anchor = nullptr;
  std::uint32_t offset = 0;
};

/// The forms a function may have.
template <class F>
inline constexpr bool kTakesContextAndBuffer =
    std::is_invocable_v<F&, CallContext&, std::span<std::byte>>;
template <class F>
inline constexpr bool kTakesBuffer = std::is_invocable_v<F&, std::span<std::byte>>;
template <class F>
inline constexpr bool kTakesContext = std::is_invocable_v<F&, CallContext&>;
template <class F>
inline constexpr bool kTakesNothing = std::is_invocable_v<F&>;

template <class F>
decltype(auto) run_function(F& function, CallContext& here, std::span<std::byte> buffer) {
  static_assert(
      kTakesContextAndBuffer<F> || kTakesBuffer<F> || kTakesContext<F> || kTakesNothing<F>,
      "a called function takes (), (CallContext&), (std::span<std::byte>), or "
      "(CallContext&, std::span<std::byte>)");
  if constexpr (kTakesContextAndBuffer<F>) {
    return function(here, buffer);
  } else if constexpr (kTakesBuffer<F>) {
    return function(buffer);
  } else if constexpr (kTakesContext<F>) {
    return function(here);
  } else {
    return function();
  }
}

/// What it returns.
template <class F>
using CallResult = decltype(run_function(std::declval<F&>(), std::declval<CallContext&>(),
                                         std::declval<std::span<std::byte>>()));

template <class F>
F function_of(const std::byte* closure) {
  std::array<std::byte, sizeof(F)> bytes{};
  if constexpr (!std::is_empty_v<F>) std::memcpy(bytes.data(), closure, sizeof(F));
  return std::bit_cast<F>(bytes);
}

template <class F>
__attribute__((visibility("hidden"))) void invoke(CallContext& here, const std::byte* closure,
                                                  std::span<std::byte> buffer,
                                                  std::vector<std::byte>& /*result*/) {
  F function = function_of<F>(closure);
  static_cast<void>(run_function(function, here, buffer));
}

template <class F>
__attribute__((visibility("hidden"))) void invoke_for_result(CallContext& here,
                                                             const std::byte* closure,
                                                             std::span<std::byte> buffer,
                                                             std::vector<std::byte>& result) {
  F function = function_of<F>(closure);
  const auto value = run_function(function, here, buffer);
  result.resize(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
}

__attribute__((visibility("hidden"))) inline FunctionName name_of(Invoker invoker) {
  const char* const anchor = code_anchor();
  return {anchor, static_cast<std::uint32_t>(reinterpret_cast<const char*>(invoker) - anchor)};
}

/// A function that the object calls somewhere.
struct ListedFunction {
  Invoker invoker;
  std::uint32_t captures;  // bytes
  const ListedFunction* next;
};

/// The first of the object's list.
__attribute__((visibility("hidden"))) inline constinit const ListedFunction* first_listed_function =
    nullptr;

template <Invoker kInvoker, std::uint32_t kCaptures>
struct __attribute__((visibility("hidden"))) ListingOf {
  struct Node : ListedFunction {
    Node() : ListedFunction{kInvoker, kCaptures, first_listed_function} {
      first_listed_function = this;
    }
  };
  static inline const Node node;
};

/// For another process, which has it in its list, too. `F`: the function that the invoker runs.
template <class F, Invoker kInvoker>
__attribute__((visibility("hidden"))) FunctionName listed() {
  constexpr std::uint32_t kCaptures = std::is_empty_v<F> ? 0 : sizeof(F);
  return name_of(ListingOf<kInvoker, kCaptures>::node.invoker);
}

/// Of the object of whoever calls it: where it begins, and what may be called in it.
struct CallableFunction {
  std::uint32_t offset = 0;    // FunctionName::offset
  std::uint32_t captures = 0;  // bytes
};
struct CallableObject {
  const char* anchor = nullptr;
  std::vector<CallableFunction> functions;
};
__attribute__((visibility("hidden"))) inline CallableObject callable_object() {
  CallableObject object{code_anchor(), {}};
  for (const ListedFunction* f = first_listed_function; f != nullptr; f = f->next) {
    object.functions.push_back({name_of(f->invoker).offset, f->captures});
  }
  return object;
}

/// The captures of a function as bytes.
template <class F>
std::span<const std::byte> captures_of(const F& function) {
  static_assert(std::is_trivially_copyable_v<F>,
                "a called function travels as bytes: all it captures must be trivially copyable "
                "(numbers, plain structs, RemoteBuffer; no std::string, containers or owners)");
  static_assert(sizeof(F) <= 4096, "captures of more than 4096 bytes: pass them as a buffer");
  if constexpr (std::is_empty_v<F>) return {};
  return std::as_bytes(std::span(&function, 1));
}

}  // namespace slackline::hw
