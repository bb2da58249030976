/* A client: calls two tools of a server and reads a resource, one after the other. The LED lights if all results are
   right. `.ci/interop/python_server.py` is such a server. */
#include "board.h"
#include "mcp_proto.h"

static const mcp_client_config_t CONFIG = {.name = "client", .version = "0.1.0", .connect = MCP_CONNECT_AUTOMATIC};

static mcp_client_t client;
static uint8_t rx[2048], tx[1024];
static mcp_client_slot_t slots[1];
static uint8_t slot_text[256];

/* The request in flight, its number, and the progress that it has reported. */
static uint64_t request = MCP_NO_TICKET;
static int number;
static int64_t progress;
/* Whether the client must send the request in flight again. */
static bool is_needed_again;

enum { ADD, COUNT, PAGE, REQUESTS };

static mcp_status_t call_tool(const char *name, const char *arguments) {
    if (is_needed_again) {
        return mcp_client_resume_tool(&client, request, name, arguments);
    }
    return mcp_client_call_tool(&client, name, arguments, 0, &request);
}

static mcp_status_t read_resource(const char *uri) {
    if (is_needed_again) {
        return mcp_client_resume_resource(&client, request, uri);
    }
    return mcp_client_read_resource(&client, uri, 0, &request);
}

static mcp_status_t send_request(void) {
    switch (number) {
    case ADD:
        return call_tool("add", "{\"a\":2,\"b\":40}");
    case COUNT:
        return call_tool("count", "{\"to\":3}");
    default:
        return read_resource("file:///page");
    }
}

/* Returns true if the string at a path of a result equals `expected`. */
static bool has(mcp_text_t json, const char *path, const char *expected) {
    char text[32];
    size_t length;
    if (mcp_json_string(json, path, text, sizeof text, &length) != MCP_OK) {
        return false;
    }
    for (size_t at = 0; at <= length; at++) {
        if (text[at] != expected[at]) {
            return false;
        }
    }
    return true;
}

static bool is_right(mcp_text_t result) {
    switch (number) {
    case ADD:
        return has(result, "content.0.text", "42");
    case COUNT:
        return has(result, "content.0.text", "done") && progress == 3;
    default:
        return has(result, "contents.0.text", "a small page");
    }
}

/* Sends, or receives if there is nothing to send. */
static void move_bytes(uint64_t deadline) {
    size_t size;
    const uint8_t *output = mcp_client_output(&client, &size);
    if (size > 0) {
        mcp_client_consumed(&client, board_write(output, size));
        return;
    }
    uint8_t *input = mcp_client_input(&client, &size);
    long received = board_read(input, size, deadline);
    if (received < 0) {
        mcp_client_end_of_input(&client);
    } else {
        mcp_client_filled(&client, (size_t)received);
    }
}

int main(void) {
    if (mcp_client_init(&client, &CONFIG, rx, sizeof rx, tx, sizeof tx) != MCP_OK ||
        mcp_client_lend_slots(&client, slots, 1, slot_text, sizeof slot_text) != MCP_OK) {
        return 1;
    }
    for (;;) {
        mcp_client_event_t event;
        switch (mcp_client_poll(&client, board_now(), &event)) {
        case MCP_CLIENT_IO:
            move_bytes(event.deadline);
            continue;
        case MCP_CLIENT_PROGRESS:
            mcp_json_fixed(event.json, "progress", 0, &progress);
            continue;
        case MCP_CLIENT_RESULT:
            if (!is_right(event.json)) {
                return 1;
            }
            number += 1;
            break;
        case MCP_CLIENT_INPUT_REQUIRED:
            is_needed_again = true;
            break;
        case MCP_CLIENT_CONNECTED:
        case MCP_CLIENT_WRITABLE:
            break;
        case MCP_CLIENT_CONNECT_FAILED:
        case MCP_CLIENT_ERROR:
        case MCP_CLIENT_FAILED:
            return 1;
        case MCP_CLIENT_CLOSED:
            return number == REQUESTS ? 0 : 1;
        default:
            continue;
        }
        if (number == REQUESTS) {
            board_set_led(true);
            mcp_client_shutdown(&client, board_now());
            continue;
        }
        mcp_status_t status = send_request();
        if (status == MCP_OK) {
            is_needed_again = false;
        } else if (status != MCP_ERROR_BUSY) {
            return 1;
        }
    }
}
