// A list that takes its memory as it grows, in chunks that stay where they are, and gives it back as it
// shrinks. An entry of 16 bytes takes at most 19, with the allocator's part, and a list that has one 300
// more.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

template <class Entry>
class SlotList {
  public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    Entry& operator[](std::size_t n) { return chunks_[n / each][n % each]; }
    const Entry& operator[](std::size_t n) const { return chunks_[n / each][n % each]; }
    // Not of an empty list.
    Entry& back() { return (*this)[size_ - 1]; }
    const Entry& back() const { return (*this)[size_ - 1]; }

    void push_back(const Entry& entry) {
        if (size_ == chunks_.size() * each) add_chunk();
        (*this)[size_++] = entry;
    }
    // To the first `size`, which is not above its own.
    void shrink(std::size_t size) {
        size_ = size;
        if (!keeps_all_) chunks_.resize(chunks_for(size));
    }
    // Takes the memory of so many entries now and gives none back, for threads that must not allocate.
    void reserve(std::size_t entries) {
        keeps_all_ = true;
        chunks_.reserve(chunks_for(entries));
        while (chunks_.size() < chunks_for(entries)) add_chunk();
    }
    // Entries that it has memory for.
    std::size_t capacity() const { return chunks_.size() * each; }

    class Iterator {
      public:
        Iterator(const SlotList& list, std::size_t at) : list_(&list), at_(at) {}
        const Entry& operator*() const { return (*list_)[at_]; }
        Iterator& operator++() { return ++at_, *this; }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }

      private:
        const SlotList* list_;
        std::size_t at_;
    };
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size_}; }

  private:
    static constexpr std::size_t each = 16;  // entries
    static std::size_t chunks_for(std::size_t entries) { return (entries + each - 1) / each; }
    [[gnu::noinline]] void add_chunk() { chunks_.push_back(std::make_unique<Entry[]>(each)); }

    std::vector<std::unique_ptr<Entry[]>> chunks_;
    std::size_t size_ = 0;
    bool keeps_all_ = false;
};

}  // namespace sluice
