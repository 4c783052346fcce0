// A large value whose copies share it until one of them changes. Of one thread, as a configuration is.
#pragma once

#include <memory>

namespace sluice {

template <class Value>
class CopyOnWrite {
  public:
    CopyOnWrite() : value_(std::make_shared<Value>()) {}

    const Value& operator*() const { return *value_; }
    const Value* operator->() const { return value_.get(); }
    Value& change() {
        if (value_.use_count() != 1) value_ = std::make_shared<Value>(*value_);
        return *value_;
    }
    // Equal without a comparison.
    bool is_shared_with(const CopyOnWrite& other) const { return value_ == other.value_; }
    bool operator==(const CopyOnWrite& other) const {
        return is_shared_with(other) || *value_ == *other.value_;
    }

  private:
    std::shared_ptr<Value> value_;
};

}  // namespace sluice
