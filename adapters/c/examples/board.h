/* The functions of a board that the examples call. posix.c implements them for a computer. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the time since the start, in milliseconds. The time never decreases. */
uint64_t board_now(void);

/* Sends bytes. Returns the number of bytes sent, which may be 0. */
size_t board_write(const uint8_t *bytes, size_t count);

/* Receives up to `size` bytes. Waits for the first byte, until `deadline` at the latest. Returns the number of bytes, or
   -1 at the end of the input. */
long board_read(uint8_t *bytes, size_t size, uint64_t deadline);

/* Switches the LED on or off. */
void board_set_led(bool on);

/* Returns the temperature in tenths of a degree Celsius. */
int board_temperature(void);

#endif
