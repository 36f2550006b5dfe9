// What poll(2) is asked about a connection, and what its answer means.
#pragma once

#include <poll.h>

#include "http/connection.hpp"

/// Sets what poll is to wait for: what the core wants now, and nothing from before.
void arm(pollfd& entry, const http::Want& want);

/// True: poll had something to report, and the connection gets its turn.
bool ready(const pollfd& entry);
