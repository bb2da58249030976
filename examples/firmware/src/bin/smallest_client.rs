//! The smallest client: connects in one era and calls one tool, on a polled UART.
//!
//! The Cargo features `with-stateless-era` and `with-both-eras` select other eras, so that `.ci/footprint --features`
//! can measure these eras.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("Build this for a board: cargo run --release --target thumbv6m-none-eabi");
}

#[cfg(target_os = "none")]
mod image {
    use mcp_proto::client::{ClientConfig, Event, Options, Slot};
    use mcp_proto::{Action, Client, ConfigError, Next, Outcome, Revisions};
    #[cfg(target_arch = "arm")]
    use {cortex_m_rt::entry, mcp_proto_firmware::chips::lm3s6965::Polled};
    #[cfg(target_arch = "riscv32")]
    use {mcp_proto_firmware::chips::virt_polled::Polled, riscv_rt::entry};

    const REVISIONS: Revisions =
        match (cfg!(feature = "with-both-eras"), cfg!(feature = "with-stateless-era")) {
            (true, _) => Revisions::ALL,
            (false, true) => Revisions::STATELESS,
            (false, false) => Revisions::HANDSHAKE,
        };
    static CONFIG: ClientConfig = ClientConfig::new("smallest", "0.1.0").revisions(REVISIONS);

    fn run(chip: &mut Polled) -> Result<(), ConfigError> {
        let (mut rx, mut tx) = ([0; 512], [0; 512]);
        let (mut slots, mut text) = ([Slot::EMPTY; 1], [0; 32]);
        let client = Client::new(&CONFIG, &mut rx, &mut tx)?;
        let mut client = client.in_flight(&mut slots, &mut text);
        // Whether the last response is a result and no error, for a debugger.
        let mut is_done = false;
        loop {
            match client.poll(chip.now()) {
                Action::Io(io) => match io.next() {
                    Next::Write(out) => {
                        let count = chip.write(out.bytes());
                        out.sent(count);
                    }
                    Next::Read(mut input) => {
                        let count = chip.read(input.space());
                        input.filled(count);
                    }
                    Next::Wait => {}
                },
                Action::Event => match client.event() {
                    Some(Event::Connected(_)) => {
                        _ = client.call_json("add", r#"{"a":2,"b":40}"#, Options::DEFAULT);
                    }
                    Some(Event::Response(response)) => {
                        is_done = matches!(response.outcome(), Outcome::Result(_));
                    }
                    _ => {}
                },
                Action::Closed => return Ok(()),
            }
            core::hint::black_box(is_done);
        }
    }

    #[entry]
    fn main() -> ! {
        let mut chip = Polled::start();
        loop {
            _ = run(&mut chip);
        }
    }
}
