// Whose event is this? Sometimes it is somebody else's: README.md beside this file.
#include "connections.hpp"

// Null: there is no such connection any more.
OpenConnection* Connections::find(ConnectionId id) {
    const auto index = static_cast<std::uint32_t>(id);  // the lower half
    if (index >= slots_.size()) return nullptr;
    auto& slot = slots_[index];
    return slot ? &*slot : nullptr;
}
