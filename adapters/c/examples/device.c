/* A server with arguments of several types, structured results and resources. It runs where blinky.c runs. */
#include "board.h"
#include "mcp_proto.h"

enum { SET_NAME, TEMPERATURE, MEAN };

static const mcp_tool_t TOOLS[] = {
    [SET_NAME] = {.name = "set_name",
                  .description = "Names the device",
                  .input_schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":20}},"
                                  "\"required\":[\"name\"]}"},
    [TEMPERATURE] = {.name = "temperature",
                     .description = "The temperature in degrees Celsius, plus an offset",
                     .input_schema = "{\"type\":\"object\",\"properties\":{\"offset\":{\"type\":\"number\"}}}",
                     .output_schema = "{\"type\":\"object\",\"properties\":{\"celsius\":{\"type\":\"number\"}},"
                                      "\"required\":[\"celsius\"]}",
                     .hints = MCP_TOOL_READ_ONLY | MCP_TOOL_CLOSED_WORLD},
    [MEAN] = {.name = "mean",
              .description = "The mean of two points, in whole numbers",
              .input_schema = "{\"type\":\"object\",\"properties\":{\"points\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
                              "\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":-1000000,\"maximum\":1000000}},"
                              "\"required\":[\"x\"]},\"minItems\":2,\"maxItems\":2}},"
                              "\"required\":[\"points\"]}",
              .hints = MCP_TOOL_READ_ONLY},
};

enum { NAME, IMAGE };

static const mcp_resource_t RESOURCES[] = {
    [NAME] = {.uri = "board://name", .name = "name", .mime_type = "text/plain"},
    [IMAGE] = {.uri = "board://image", .name = "image", .mime_type = "application/octet-stream"},
};

static const mcp_server_config_t CONFIG = {
    .name = "device",
    .version = "0.1.0",
    .instructions = "A device with a name and a thermometer.",
    .tools = MCP_TOOLS(TOOLS),
    .resources = MCP_RESOURCES(RESOURCES),
    .restart_on_initialize = true,
};

static mcp_server_t server;
static uint8_t rx[1024], tx[2048];

/* A name of at most 20 characters, each of at most 4 bytes. */
struct name {
    char text[81];
};

static struct name name = {"unnamed"};
static const uint8_t image[] = {0x89, 'P', 'N', 'G', 0x00, 0xFF};

/* Writes a number of tenths as JSON: 215 is 21.5. Returns the end of the text, without a final zero byte. */
static char *write_tenths(char *to, int64_t tenths) {
    char digits[20];
    int count = 0;
    uint64_t left = tenths < 0 ? 0 - (uint64_t)tenths : (uint64_t)tenths;
    if (tenths < 0) {
        *to++ = '-';
    }
    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0 || count < 2);
    while (count > 1) {
        *to++ = digits[--count];
    }
    *to++ = '.';
    *to++ = digits[0];
    return to;
}

static void temperature(const mcp_event_t *event) {
    int64_t offset = 0;
    mcp_status_t status = mcp_json_fixed(event->arguments, "offset", 1, &offset);
    if (status == MCP_ERROR_TYPE || offset < -1000 || offset > 1000) {
        mcp_call_invalid(event->call, "`offset` must be a number from -100 to 100");
        return;
    }
    char json[64] = "{\"celsius\":";
    char *end = write_tenths(json + 11, board_temperature() + offset);
    end[0] = '}';
    end[1] = '\0';
    mcp_call_json(event->call, json);
}

/* Reads an integer from -1000000 to 1000000. Returns false if the arguments have no such integer there. */
static bool read_x(mcp_text_t arguments, const char *path, int64_t *x) {
    return mcp_json_int(arguments, path, x) == MCP_OK && *x >= -1000000 && *x <= 1000000;
}

static void mean(const mcp_event_t *event) {
    int64_t a, b;
    if (!read_x(event->arguments, "points.0.x", &a) || !read_x(event->arguments, "points.1.x", &b)) {
        mcp_call_invalid(event->call, "`points` must have two elements with an integer `x` from -1000000 to 1000000");
        return;
    }
    char text[24];
    char *end = write_tenths(text, (a + b) * 5);
    *end = '\0';
    mcp_call_text(event->call, text);
}

/* Returns whether a text of UTF-8 has at most 20 characters and no zero byte. */
static bool is_name(const char *text, size_t length) {
    int characters = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0') {
            return false;
        }
        characters += (text[i] & 0xC0) != 0x80; /* the first byte of a character */
    }
    return characters <= 20;
}

static void set_name(const mcp_event_t *event) {
    struct name next; /* because an error leaves the buffer unspecified */
    size_t length;
    mcp_status_t status = mcp_json_string(event->arguments, "name", next.text, sizeof next.text, &length);
    if (status == MCP_ERROR_SPACE || (status == MCP_OK && !is_name(next.text, length))) {
        mcp_call_invalid(event->call, "`name` must have at most 20 characters, and no zero character");
    } else if (status != MCP_OK) {
        mcp_call_invalid(event->call, "`name` must be a string");
    } else {
        name = next;
        mcp_call_text(event->call, "ok");
    }
}

static void on_call(const mcp_event_t *event) {
    switch (event->index) {
    case SET_NAME:
        set_name(event);
        return;
    case TEMPERATURE:
        temperature(event);
        return;
    case MEAN:
        mean(event);
        return;
    }
}

static void on_read(const mcp_event_t *event) {
    const mcp_resource_t *resource = &RESOURCES[event->index];
    if (event->index == NAME) {
        mcp_read_text(event->call, resource, name.text);
    } else {
        mcp_read_blob(event->call, resource, image, sizeof image);
    }
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
    if (mcp_server_init(&server, &CONFIG, rx, sizeof rx, tx, sizeof tx) != MCP_OK) {
        return 1;
    }
    for (;;) {
        mcp_event_t event;
        switch (mcp_server_poll(&server, board_now(), &event)) {
        case MCP_EVENT_IO:
            move_bytes(event.deadline);
            break;
        case MCP_EVENT_CALL:
            on_call(&event);
            break;
        case MCP_EVENT_READ:
            on_read(&event);
            break;
        case MCP_EVENT_CLOSED:
            return 0;
        default:
            break;
        }
    }
}
