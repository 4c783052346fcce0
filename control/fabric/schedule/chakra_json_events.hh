// JSON as events, from a stream: no value is kept but the one that is read.
//
// nlohmann-json reads it; a value of more than max_message_bytes ends the stream.
#pragma once

#include <string_view>

#include "control/fabric/schedule/chakra_nodes.hh"

namespace sluice::fabric::chakra {

// What a reader of JSON does with it. Each call returns false to stop.
class JsonEvents {
  public:
    virtual bool begin_object(SourcePlace place) = 0;
    virtual bool begin_array(SourcePlace place) = 0;
    virtual bool end_object() = 0;
    virtual bool end_array() = 0;
    virtual bool key(std::string_view text) = 0;
    virtual bool value(const Value& value, SourcePlace place) = 0;  // valid until the call returns

  protected:
    ~JsonEvents() = default;
};

// Reads values one after another up to the end of the stream; refuses what is not JSON. False: it was wrong,
// or an event has stopped it.
bool read_json_values(ByteStream& stream, JsonEvents& events, ScheduleErrors& errors);

}  // namespace sluice::fabric::chakra
