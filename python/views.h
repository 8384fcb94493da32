// Memory of ours as NumPy arrays: nothing is copied, nobody can write, and an array keeps what it
// shows alive.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace slackline::python {

/// An array that nobody can write. (The base class of pybind11's array says the flag; it has no
/// function for it.)
inline pybind11::array read_only(pybind11::array array) {
  pybind11::detail::array_proxy(array.ptr())->flags &=
      ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// `count` numbers, the first of them at `first` and each `stride` bytes after the one before,
/// which `owner` has and neither moves nor changes.
template <class Number>
pybind11::array view(const Number* first, std::size_t count, std::size_t stride,
                     pybind11::handle owner) {
  // Of an address that is null, NumPy would make room of its own.
  if (count == 0) return read_only(pybind11::array_t<Number>(0));
  return read_only(pybind11::array(pybind11::dtype::of<Number>(),
                                   {static_cast<pybind11::ssize_t>(count)},
                                   {static_cast<pybind11::ssize_t>(stride)}, first, owner));
}

/// A member of every element of `table`, which `owner` has. `Number` is what NumPy is told: an
/// index may be shown as a number with a sign, so that none() is −1.
template <class Number, class Table, class Element, class Member>
pybind11::array column(const Table& table, Member Element::*member, pybind11::handle owner) {
  static_assert(sizeof(Number) == sizeof(Member));
  const void* first = table.empty() ? nullptr : &(table.data()->*member);
  return view(static_cast<const Number*>(first), table.size(), sizeof(Element), owner);
}

template <class Number>
pybind11::array view(const std::vector<Number>& numbers, pybind11::handle owner) {
  return view(numbers.data(), numbers.size(), sizeof(Number), owner);
}

/// Numbers that were made for this array, which keeps them.
template <class Number>
pybind11::array kept(std::vector<Number>&& numbers) {
  auto* owned = new std::vector<Number>(std::move(numbers));
  const pybind11::capsule owner(owned,
                                [](void* held) { delete static_cast<std::vector<Number>*>(held); });
  return view(*owned, owner);
}

}  // namespace slackline::python
