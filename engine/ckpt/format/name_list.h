// List of names in one contiguous buffer. A checkpoint's manifest names every
// tensor, and manifests are parsed often.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_NAME_LIST_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_NAME_LIST_H_

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

class NameList {
 public:
  // Yields views, which are valid until the list changes or is destroyed.
  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using reference = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = void;

    Iterator() = default;
    Iterator(const NameList& list, size_t index)
        : list_(&list), index_(index) {}
    std::string_view operator*() const { return (*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const NameList* list_ = nullptr;
    size_t index_ = 0;
  };

  NameList() = default;
  NameList(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) push_back(name);
  }

  void push_back(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }
  // Reserves memory for so many names, with `bytes` in total.
  void reserve(size_t names, size_t bytes) {
    ends_.reserve(names);
    text_.reserve(bytes);
  }
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  bool operator==(const NameList&) const = default;

 private:
  std::string text_;
  std::vector<size_t> ends_;  // of each name, in the text
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_NAME_LIST_H_
