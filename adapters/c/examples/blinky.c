/* A server with two tools: the smallest program. It runs on a computer and on a board: board.h has the differences. */
#include "board.h"
#include "mcp_proto.h"

enum { LED_SET, SELF_TEST };

static const mcp_tool_t TOOLS[] = {
    [LED_SET] = {.name = "led_set",
                 .input_schema = "{\"type\":\"object\",\"properties\":{\"on\":{\"type\":\"boolean\"}},\"required\":[\"on\"]}"},
    [SELF_TEST] = {.name = "self_test", .description = "Test the whole board, in ten steps"},
};

static const mcp_server_config_t CONFIG = {
    .name = "blinky",
    .version = "0.1.0",
    .tools = MCP_TOOLS(TOOLS),
    .restart_on_initialize = true,
};

static mcp_server_t server;
static uint8_t rx[512], tx[1024];
static mcp_slot_t slots[4];
static uint8_t slot_text[256];

/* The self-test that runs, and its next step. */
static uint64_t test = MCP_NO_TICKET;
static int step;

static void on_call(const mcp_event_t *event) {
    bool on;
    switch (event->index) {
    case LED_SET:
        if (mcp_json_bool(event->arguments, "on", &on) != MCP_OK) {
            mcp_call_invalid(event->call, "`on` must be true or false");
            return;
        }
        board_set_led(on);
        mcp_call_text(event->call, "ok");
        return;
    case SELF_TEST:
        if (test != MCP_NO_TICKET) {
            mcp_call_fail(event->call, "a test is running");
        } else if (mcp_call_defer(event->call, 0, &test) != MCP_OK) {
            mcp_call_fail(event->call, "too many calls");
        } else {
            step = 0;
        }
        return;
    }
}

/* One step of the self-test. */
static void run_test(void) {
    mcp_call_t *call;
    mcp_status_t status = mcp_server_resume(&server, test, &call);
    if (status == MCP_ERROR_BUSY) {
        return;
    }
    if (status == MCP_OK && step < 9) {
        step += 1;
        mcp_call_progress(call, step, 10, NULL);
        return;
    }
    if (status == MCP_OK) {
        mcp_call_text(call, "test passed");
    }
    test = MCP_NO_TICKET;
}

/* Sends, or receives if there is nothing to send. */
static void move_bytes(uint64_t deadline) {
    size_t size;
    const uint8_t *output = mcp_server_output(&server, &size);
    if (size > 0) {
        mcp_server_consumed(&server, board_write(output, size));
        return;
    }
    uint8_t *input = mcp_server_input(&server, &size);
    long received = board_read(input, size, deadline);
    if (received < 0) {
        mcp_server_end_of_input(&server);
    } else {
        mcp_server_filled(&server, (size_t)received);
    }
}

int main(void) {
    mcp_status_t status = mcp_server_init(&server, &CONFIG, rx, sizeof rx, tx, sizeof tx);
    if (status == MCP_OK) {
        status = mcp_server_lend_slots(&server, slots, 4, slot_text, sizeof slot_text);
    }
    if (status != MCP_OK) {
        return 1;
    }
    for (;;) {
        mcp_event_t event;
        switch (mcp_server_poll(&server, board_now(), &event)) {
        case MCP_EVENT_IO:
            move_bytes(test == MCP_NO_TICKET ? event.deadline : board_now());
            break;
        case MCP_EVENT_CALL:
            on_call(&event);
            break;
        case MCP_EVENT_CANCELLED:
        case MCP_EVENT_EXPIRED:
        case MCP_EVENT_RESTARTED:
            test = MCP_NO_TICKET;
            break;
        case MCP_EVENT_CLOSED:
            return 0;
        default:
            break;
        }
        if (test != MCP_NO_TICKET) {
            run_test();
        }
    }
}
