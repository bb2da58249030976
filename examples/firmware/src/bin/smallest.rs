//! The smallest server: one tool with untyped arguments, one era, on a polled UART.
//!
//! Each Cargo feature `with-…` adds or replaces one part, so that `.ci/footprint --features` can measure the part.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("Build this for a board: cargo run --release --target thumbv6m-none-eabi");
}

#[cfg(target_os = "none")]
mod image {
    use core::mem::MaybeUninit;

    use mcp_proto::server::{Call, Event, Feature, ServerConfig, Tool, Tools};
    use mcp_proto::{Action, ConfigError, Next, Revisions, Server};
    #[cfg(target_arch = "arm")]
    use {cortex_m_rt::entry, mcp_proto_firmware::chips::lm3s6965::Polled};
    #[cfg(target_arch = "riscv32")]
    use {mcp_proto_firmware::chips::virt_polled::Polled, riscv_rt::entry};

    #[cfg(not(feature = "with-derived-type"))]
    static TOOLS: Tools = Tools::new(&[Tool::new(
        "led_set",
        r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
    )]);
    #[cfg(all(feature = "with-derived-type", not(feature = "with-second-type")))]
    static TOOLS: Tools = Tools::new(&[Tool::with_arguments::<LedSet>("led_set")]);
    #[cfg(feature = "with-second-type")]
    static TOOLS: Tools =
        Tools::new(&[Tool::with_arguments::<LedSet>("led_set"), Tool::with_arguments::<Blink<'_>>("blink")]);

    #[cfg(feature = "with-derived-type")]
    #[derive(mcp_proto::ToolArguments)]
    struct LedSet {
        on: bool,
    }

    #[cfg(feature = "with-second-type")]
    #[derive(mcp_proto::ToolArguments)]
    struct Blink<'a> {
        pin: &'a str,
        times: u8,
    }

    #[cfg(feature = "with-resources")]
    use mcp_proto::server::{Resource, Resources};
    #[cfg(feature = "with-resources")]
    const BOARD: &[Resource] = &[Resource::new("board://led", "led")];
    #[cfg(all(feature = "with-resources", not(feature = "with-subscriptions")))]
    static RESOURCES: Resources = Resources::new(BOARD);
    #[cfg(feature = "with-subscriptions")]
    static RESOURCES: Resources = Resources::new(BOARD).subscribe();

    #[cfg(feature = "with-prompts")]
    use mcp_proto::server::{Prompt, PromptArgument, Prompts};
    #[cfg(feature = "with-prompts")]
    static PROMPTS: Prompts =
        Prompts::new(&[Prompt::new("diagnose").arguments(&[PromptArgument::new("symptom")])]);

    static FEATURES: &[&dyn Feature] = &[
        &TOOLS,
        #[cfg(feature = "with-resources")]
        &RESOURCES,
        #[cfg(feature = "with-prompts")]
        &PROMPTS,
        #[cfg(feature = "with-completion")]
        &mcp_proto::server::Completion,
        #[cfg(feature = "with-logging")]
        &mcp_proto::server::Logging,
        #[cfg(feature = "with-subscriptions")]
        &mcp_proto::server::Subscriptions,
        #[cfg(feature = "with-tasks")]
        &mcp_proto::server::Tasks::new(),
    ];

    const REVISIONS: Revisions =
        match (cfg!(feature = "with-both-eras"), cfg!(feature = "with-stateless-era")) {
            (true, _) => Revisions::ALL,
            (false, true) => Revisions::STATELESS,
            (false, false) => Revisions::HANDSHAKE,
        };
    static CONFIG: ServerConfig =
        ServerConfig::new("smallest", "0.1.0").features(FEATURES).revisions(REVISIONS);

    #[cfg(feature = "with-keep-alive")]
    const KEEP_ALIVE: mcp_proto::KeepAlive = mcp_proto::KeepAlive {
        interval: mcp_proto::Millis::seconds(10),
        timeout: mcp_proto::Millis::seconds(5),
        close: false,
    };

    /// The state of the board.
    #[derive(Default)]
    struct Board {
        led: bool,
        /// A deferred call.
        #[cfg(feature = "with-deferral")]
        waiting: Option<mcp_proto::Ticket>,
        #[cfg(feature = "with-tasks")]
        task: Option<mcp_proto::server::TaskTicket>,
    }

    impl Board {
        fn call(&mut self, #[allow(unused_mut, reason = "some parts change the call")] mut call: Call<'_>) {
            #[cfg(feature = "with-progress")]
            let _ = call.progress(1, None, "");
            #[cfg(feature = "with-logging")]
            let _ = call.log(mcp_proto::Level::Info, None, "led");
            #[cfg(feature = "with-second-type")]
            if call.name() == "blink" {
                return match call.arguments::<Blink<'_>>() {
                    Ok(blink) => {
                        self.led = blink.times > 0 && blink.pin == "led";
                        call.text("ok")
                    }
                    Err(error) => call.invalid(error),
                };
            }
            #[cfg(feature = "with-derived-type")]
            match call.arguments::<LedSet>() {
                Ok(LedSet { on }) => self.led = on,
                Err(error) => return call.invalid(error),
            }
            #[cfg(not(feature = "with-derived-type"))]
            match call.raw_arguments().get("on").and_then(mcp_proto::json::Json::boolean) {
                Some(on) => self.led = on,
                None => return call.fail("`on` must be a boolean"),
            }
            self.answer(call);
        }

        #[cfg(not(any(feature = "with-deferral", feature = "with-tasks", feature = "with-input")))]
        fn answer(&mut self, call: Call<'_>) {
            call.text("ok");
        }

        #[cfg(all(feature = "with-deferral", not(feature = "with-tasks")))]
        fn answer(&mut self, call: Call<'_>) {
            match call.defer(None) {
                Ok(ticket) => self.waiting = Some(ticket),
                Err(call) => call.busy(),
            }
        }

        #[cfg(feature = "with-tasks")]
        fn answer(&mut self, call: Call<'_>) {
            match call.into_task(mcp_proto::server::TaskOptions::new([7; 16])) {
                Ok(task) => self.task = Some(task),
                Err(call) => call.busy(),
            }
        }

        /// Requires input from the client, which is possible only in the stateless era.
        #[cfg(feature = "with-input")]
        fn answer(&mut self, call: Call<'_>) {
            match call.input("roots") {
                Some(_) => call.text("ok"),
                None => call.require_input(&[("roots", &mcp_proto::input::ListRoots)], None),
            }
        }

        /// Performs the actions of the selected parts after each poll.
        fn advance(&mut self, _server: &mut Server<'_>) {
            #[cfg(feature = "with-deferral")]
            if let Some(ticket) = self.waiting.take()
                && let Ok(reply) = _server.reply(ticket)
            {
                reply.text("ok");
            }
            #[cfg(feature = "with-requests")]
            if self.led {
                self.led = _server
                    .request(&mcp_proto::input::ListRoots, mcp_proto::server::RequestOptions::DEFAULT)
                    .is_err();
            }
            #[cfg(feature = "with-subscriptions")]
            _server.changed(mcp_proto::server::Change::Resource("board://led"));
            #[cfg(feature = "with-tasks")]
            if let Some(task) = self.task.take()
                && let Ok(task) = _server.task(task)
            {
                _ = task.complete(|result| result.text("ok"));
            }
        }

        fn handle(&mut self, event: Event<'_>) {
            match event {
                Event::Call(call) => self.call(call),
                #[cfg(feature = "with-resources")]
                Event::ReadResource(read) => read.text(if self.led { "high" } else { "low" }),
                #[cfg(feature = "with-prompts")]
                Event::GetPrompt(prompt) => {
                    let symptom = prompt.argument("symptom");
                    prompt.messages(|messages| match symptom {
                        Some(symptom) => messages.user().text(symptom),
                        None => messages.user().text("no symptom"),
                    });
                }
                #[cfg(feature = "with-completion")]
                Event::Complete(request) => request.matching(["hot", "cold"]),
                #[cfg(feature = "with-requests")]
                Event::Response(response) => {
                    self.led = matches!(response.outcome(), mcp_proto::Outcome::Result(_))
                }
                _ => {}
            }
        }
    }

    // Not inlined: otherwise the event takes stack while the server polls.
    #[inline(never)]
    fn on_event(server: &mut Server<'_>, board: &mut Board) {
        if let Some(event) = server.event() {
            board.handle(event);
        }
    }

    fn run(chip: &mut Polled) -> Result<(), ConfigError> {
        let (mut rx, mut tx) = ([0; 512], [0; 512]);
        #[cfg(feature = "with-slots")]
        let (mut slots, mut text) = ([mcp_proto::server::Slot::EMPTY; 2], [0; 64]);
        #[cfg(feature = "with-tasks")]
        let (mut task_slots, mut tasks) = ([mcp_proto::server::TaskSlot::EMPTY; 2], [0; 256]);
        #[cfg(feature = "with-tasks")]
        let mut tasks = mcp_proto::server::TaskTable::new(&mut task_slots, &mut tasks);
        #[cfg(feature = "with-subscriptions")]
        let mut uris = [0; 64];
        #[cfg(feature = "with-batches")]
        let mut responses = [0; 1024];
        let mut place = MaybeUninit::uninit();
        let server = Server::init(&mut place, &CONFIG, &mut rx, &mut tx)?;
        #[cfg(feature = "with-slots")]
        server.set_in_flight(&mut slots, &mut text)?;
        #[cfg(feature = "with-tasks")]
        server.set_tasks(&mut tasks);
        #[cfg(feature = "with-subscriptions")]
        server.set_subscription_buffer(&mut uris);
        #[cfg(feature = "with-batches")]
        server.set_batch_buffer(&mut responses);
        #[cfg(feature = "with-keep-alive")]
        server.set_keep_alive(KEEP_ALIVE);
        let mut board = Board::default();
        loop {
            match server.poll(chip.now()) {
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
                Action::Event => on_event(server, &mut board),
                Action::Closed => return Ok(()),
            }
            board.advance(server);
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
