// Whose event is this?
#include "connections.hpp"

OpenConnection* Connections::find(ConnectionId id) {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= slots_.size()) return nullptr;
    auto& slot = slots_[index];
    return slot && slot->id == id ? &*slot : nullptr;
}
