#include "sys/send.hpp"

#include <array>

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace sys {

namespace {

// iovec is for reading too, so it takes a pointer that is not const; sendmsg only reads
iovec piece(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

ssize_t send_some(const Fd& socket, const http::Pending& pending) {
    if (pending.bytes.empty() && pending.shared.empty()) {
        auto offset = static_cast<off_t>(pending.file.offset);
        return sendfile(socket.get(), pending.file.file, &offset, pending.file.length);
    }
    std::array<iovec, 2> pieces{piece(pending.bytes), piece(pending.shared)};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const int more =
        pending.file.length > 0 ? MSG_MORE : 0;  // the head should travel with what follows
    return sendmsg(socket.get(), &message, MSG_NOSIGNAL | more);
}

}  // namespace sys
