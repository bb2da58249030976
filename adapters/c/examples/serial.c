/* A server on a serial line behind mcp-serial-bridge: clients come and go, and the board may restart. */
#include "board.h"
#include "mcp_proto.h"

static const mcp_tool_t TOOLS[] = {{.name = "temperature", .description = "Temperature in tenths of a degree"}};

static const mcp_server_config_t CONFIG = {
    .name = "serial",
    .version = "0.1.0",
    .tools = MCP_TOOLS(TOOLS),
    .restart_on_initialize = true,
};

static mcp_server_t server;
static uint8_t rx[512], tx[1024];
static mcp_mark_t mark;

/* Text to send before the output of the server. The mark reports the start of the board. */
static const char *before = MCP_SESSION_MARK;
/* The last byte that was sent. */
static uint8_t last = '\n';

/* Drops the session of the old client, and ends a line that was sent in part. The byte 0x18 makes the line invalid. */
static void new_session(void) {
    mcp_server_reset(&server);
    if (last != '\n' && *before == '\0') {
        before = "\x18\n";
    }
}

/* Sends bytes. Returns false if there is nothing to send. */
static bool send_bytes(void) {
    size_t size = 0;
    while (before[size] != '\0') {
        size += 1;
    }
    bool is_before = size > 0;
    const uint8_t *output = is_before ? (const uint8_t *)before : mcp_server_output(&server, &size);
    size_t sent = size > 0 ? board_write(output, size) : 0;
    if (sent > 0) {
        last = output[sent - 1];
    }
    if (is_before) {
        before += sent;
    } else {
        mcp_server_consumed(&server, sent);
    }
    return size > 0;
}

/* Receives until no byte is left, the space is full, or a mark starts a new session. */
static void receive(uint64_t deadline) {
    size_t size, count = 0;
    uint8_t *input = mcp_server_input(&server, &size);
    long received = board_read(input, size > 0, deadline);
    while (received > 0) {
        if (mcp_mark_push(&mark, input[count])) {
            new_session();
            return;
        }
        count += 1;
        received = count < size ? board_read(input + count, 1, board_now()) : 0;
    }
    mcp_server_filled(&server, count);
    if (received < 0) {
        mcp_server_end_of_input(&server);
    }
}

int main(void) {
    if (mcp_server_init(&server, &CONFIG, rx, sizeof rx, tx, sizeof tx) != MCP_OK) {
        return 1;
    }
    for (;;) {
        mcp_event_t event;
        switch (mcp_server_poll(&server, board_now(), &event)) {
        case MCP_EVENT_IO:
            if (!send_bytes()) {
                receive(event.deadline);
            }
            break;
        case MCP_EVENT_CALL: {
            int tenths = board_temperature();
            char text[] = {'0' + tenths / 100 % 10, '0' + tenths / 10 % 10, '0' + tenths % 10, '\0'};
            mcp_call_text(event.call, text);
            break;
        }
        case MCP_EVENT_CLOSED:
            return 0;
        default:
            break;
        }
    }
}
