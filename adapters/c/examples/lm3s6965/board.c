/* The LM3S6965 evaluation board in QEMU: a polled UART, and the system timer as the clock. No library of C is needed. */
#include "../board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_DATA REGISTER(0x4000C000)
#define UART_FLAGS REGISTER(0x4000C018)
#define RECEIVE_EMPTY (1u << 4)
#define TRANSMIT_FULL (1u << 5)
#define TICK_CONTROL REGISTER(0xE000E010)
#define TICK_RELOAD REGISTER(0xE000E014)
#define TICK_CURRENT REGISTER(0xE000E018)
#define CYCLES_PER_MILLISECOND 12000

static volatile uint32_t milliseconds;

void tick(void) {
    milliseconds += 1;
}

/* Extends the counter of 32 bits, which begins again at 0 after 49 days. The loop of the program calls this more often. */
uint64_t board_now(void) {
    static uint64_t now;
    now += milliseconds - (uint32_t)now;
    return now;
}

/* Sends as many bytes as the UART takes now. */
size_t board_write(const uint8_t *bytes, size_t count) {
    size_t sent = 0;
    while (sent < count && !(UART_FLAGS & TRANSMIT_FULL)) {
        UART_DATA = bytes[sent++];
    }
    return sent;
}

/* Receives what has arrived. The loop of the program polls at once, because the UART holds only 16 bytes. */
long board_read(uint8_t *bytes, size_t size, uint64_t deadline) {
    (void)deadline;
    size_t received = 0;
    while (received < size && !(UART_FLAGS & RECEIVE_EMPTY)) {
        bytes[received++] = (uint8_t)UART_DATA;
    }
    return (long)received;
}

static bool led;

void board_set_led(bool on) {
    led = on;
}

int board_temperature(void) {
    return led ? 225 : 215;
}

int main(void);

/* Symbols of link.ld. */
extern uint32_t data_start[], data_end[], data_source[], bss_start[], bss_end[], stack_end[];

/* Starts after a reset: fills the variables, starts the clock, and runs the program. */
void reset(void) {
    volatile uint32_t *to = data_start;
    for (const volatile uint32_t *from = data_source; to < data_end; from++, to++) {
        *to = *from;
    }
    for (to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    TICK_RELOAD = CYCLES_PER_MILLISECOND - 1;
    TICK_CURRENT = 0;
    TICK_CONTROL = 7;
    main();
    for (;;) {
    }
}

static void fault(void) {
    for (;;) {
    }
}

/* The vector table: the stack, reset, and the exceptions of the processor. */
__attribute__((section(".vectors"), used)) static const struct {
    void *stack;
    void (*handlers[15])(void);
} VECTORS = {
    stack_end, {reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, tick},
};
