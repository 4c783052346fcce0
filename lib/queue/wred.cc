#include "lib/queue/wred.hh"

namespace sluice {

void AverageLength::arrival(std::uint64_t length, std::uint8_t weight, Time now, Duration idle_packet) {
    if (weight != weight_) {  // a new profile: the average goes on from its value
        scaled_ = weight > weight_ ? scaled_ << (weight - weight_) : scaled_ >> (weight_ - weight);
        weight_ = weight;
    }
    if (length == 0)
        decay(now > empty_since_ ? static_cast<std::uint64_t>((now - empty_since_).ps / idle_packet.ps) : 0);
    else
        scaled_ += (length << fraction_bits) - (scaled_ >> weight_);
}

// scaled x (1 - 2^-weight)^packets, by repeated squaring of a fraction of 2^32.
void AverageLength::decay(std::uint64_t packets) {
    if (packets >= 64ULL << weight_) {  // e^-64: nothing is left
        scaled_ = 0;
        return;
    }
    std::uint64_t factor = certainty - (certainty >> weight_);
    for (; packets != 0; packets >>= 1) {
        __extension__ using Wide = unsigned __int128;
        if ((packets & 1U) != 0)
            scaled_ = static_cast<std::uint64_t>(static_cast<Wide>(scaled_) * factor >> 32);
        factor = factor * factor >> 32;
    }
}

}  // namespace sluice
