//! Transfers 1 MiB in both directions, in chunks, through buffers of 512 bytes, with `mcp-proto` and no adapter.
//!
//! The image is compiled for Cortex-M0, and also runs on the Cortex-M3 of the LM3S6965.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(not(target_arch = "arm"))]
fn main() {
    eprintln!("Build this for a board: cargo run --release --target thumbv6m-none-eabi");
}

#[cfg(target_arch = "arm")]
mod image {
    use mcp_proto::server::{
        Base64, Call, ChunkedContent, Event, Resource, Resources, SecondInitialize, ServerConfig, Slot, Tool,
        Tools,
    };
    use mcp_proto::{Action, ConfigError, Next, Server, Ticket};
    use mcp_proto_firmware::chips::lm3s6965::Polled;

    const IMAGE: &str = r#"{"type":"object","properties":{"image":{"type":"string"}}}"#;
    static TOOLS: Tools = Tools::new(&[
        Tool::new("log", "{}").description("The whole log of the board"),
        Tool::new("flash", IMAGE).streamed("image"),
    ]);
    static RESOURCES: Resources = Resources::new(&[Resource::new("board://memory", "memory")]);
    static CONFIG: ServerConfig = ServerConfig::new("dump", "0.1.0")
        .features(&[&TOOLS, &RESOURCES])
        .second_initialize(SecondInitialize::Restart);

    /// Size of the log and of the memory, in bytes.
    const SIZE: u32 = 1 << 20;
    /// Length of a line of the log, with its newline.
    const LINE: usize = 64;

    /// A response that is not complete.
    struct Download {
        ticket: Ticket,
        is_text: bool,
        /// The number of bytes sent.
        sent: u32,
    }

    /// Returns the line of the log that contains the byte at this position.
    fn log_line(at: u32) -> [u8; LINE] {
        let mut line = [b'a' + (at / LINE as u32 % 26) as u8; LINE];
        let [.., newline] = &mut line;
        *newline = b'\n';
        line
    }

    /// Returns the next bytes of the memory, from this position on. A real board reads its flash here.
    fn memory(at: u32) -> [u8; LINE] {
        core::array::from_fn(|offset| {
            let at = at + offset as u32;
            (at * 31 + (at >> 8)) as u8
        })
    }

    /// An image that is being received.
    struct Upload {
        size: u32,
        /// The state of the CRC-32, inverted. A real board would also write the image to its flash.
        crc: u32,
        is_valid: bool,
    }

    impl Upload {
        const START: Upload = Upload { size: 0, crc: u32::MAX, is_valid: true };

        fn write(&mut self, base64: Base64<'_>) {
            for byte in base64.bytes() {
                let Ok(byte) = byte else {
                    self.is_valid = false;
                    return;
                };
                self.crc ^= u32::from(byte);
                for _ in 0..8 {
                    self.crc = self.crc >> 1 ^ if self.crc & 1 == 0 { 0 } else { 0xEDB8_8320 };
                }
                self.size = self.size.wrapping_add(1);
            }
        }

        /// Receives the rest of the image, and responds.
        fn end(mut self, call: Call<'_>) {
            let Some(rest) = call.raw_arguments().get("image").and_then(|image| image.string()) else {
                return call.invalid("`image` must be a string");
            };
            self.write(Base64::new(rest));
            if self.is_valid {
                call.text((self.size, " bytes, CRC-32 ", !self.crc));
            } else {
                call.invalid("`image` must be base64");
            }
        }
    }

    /// Writes chunks until the transmit buffer is full or the response is complete. Returns whether the download has
    /// ended: the response is complete, or its ticket is no longer valid.
    fn send(server: &mut Server<'_>, download: &mut Download) -> bool {
        let Ok(mut chunks) = server.chunks(download.ticket) else { return true };
        while download.sent < SIZE {
            let taken = if download.is_text {
                let line = log_line(download.sent);
                let rest = line.get(download.sent as usize % LINE..).unwrap_or_default();
                chunks.text(core::str::from_utf8(rest).unwrap_or_default())
            } else {
                let left = (SIZE - download.sent) as usize;
                chunks.blob(memory(download.sent).get(..left.min(LINE)).unwrap_or_default())
            };
            if taken == 0 {
                return false;
            }
            download.sent += taken as u32;
        }
        chunks.end();
        true
    }

    /// Runs a server until it closes.
    fn run(chip: &mut Polled) -> Result<(), ConfigError> {
        let (mut rx, mut tx) = ([0; 512], [0; 512]);
        let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 64]);
        let mut server = Server::new(&CONFIG, &mut rx, &mut tx)?.in_flight(&mut slots, &mut text)?;
        let mut download: Option<Download> = None;
        let mut upload = Upload::START;
        loop {
            let is_writable = match server.poll(chip.now()) {
                Action::Io(io) => {
                    match io.next() {
                        Next::Write(out) => {
                            let written = chip.write(out.bytes());
                            out.sent(written);
                        }
                        Next::Read(mut input) => {
                            let read = chip.read(input.space());
                            input.filled(read);
                        }
                        Next::Wait => {}
                    }
                    false
                }
                Action::Event => match server.event() {
                    Some(Event::ArgumentChunk(chunk)) => {
                        upload.write(chunk.base64());
                        false
                    }
                    Some(Event::ArgumentsAborted) => {
                        upload = Upload::START;
                        false
                    }
                    Some(Event::Call(call)) if call.name() == "flash" => {
                        core::mem::replace(&mut upload, Upload::START).end(call);
                        false
                    }
                    Some(Event::Call(call)) => {
                        match call.chunked(ChunkedContent::Text) {
                            Ok(ticket) => download = Some(Download { ticket, is_text: true, sent: 0 }),
                            Err(call) => call.busy(),
                        }
                        true
                    }
                    Some(Event::ReadResource(read)) => {
                        match read.chunked_blob() {
                            Ok(ticket) => download = Some(Download { ticket, is_text: false, sent: 0 }),
                            Err(read) => read.busy(),
                        }
                        true
                    }
                    Some(Event::Writable) => true,
                    Some(Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted) => {
                        download = None;
                        false
                    }
                    _ => false,
                },
                Action::Closed => return Ok(()),
            };
            if is_writable && download.as_mut().is_some_and(|download| send(&mut server, download)) {
                download = None;
            }
        }
    }

    #[cortex_m_rt::entry]
    fn main() -> ! {
        let mut chip = Polled::start();
        chip.enable_queues();
        loop {
            _ = run(&mut chip);
        }
    }
}
