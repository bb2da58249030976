//! A device that uses every feature of a server except tasks, skills and extensions.
//!
//! The device has an LED, a thermometer, settings, a slow self test, and requests to the client. The device does not
//! depend on the UART: the main loop passes the server's events to the device, and calls [`Device::work`] between two
//! polls.

mod catalog;
mod memory;
mod questions;
mod self_test;
mod sensor;
mod serve;
mod settings;
mod simulated;

use mcp_proto::server::{Call, Change, Complete, Event, GetPrompt, InputRequests, ReadResource};
use mcp_proto::{Decimal, Level, Millis, ProtocolError, Server};

use catalog::{LedSet, SettingsWrite};
use questions::Questions;
use self_test::SelfTest;
use sensor::Sensor;

pub use catalog::{CONFIG, PINS, SETTINGS, TEMPERATURE};
pub use memory::{Memory, Place};
pub use questions::Responses;
pub use serve::{Chip, PolledPump, serve};
pub use settings::Settings;
pub use simulated::Simulated;

/// The board's hardware, as the device uses it.
pub trait Hardware {
    /// Turns the LED on or off.
    fn set_led(&mut self, on: bool);
    /// Runs one of ten steps of the self test. Returns `false` if the step fails.
    fn test(&mut self, step: u8) -> bool;
    /// Reports a protocol error, for example with a counter or the LED. The server has already handled the error.
    fn report(&mut self, fault: ProtocolError);
}

/// The state of the device and of its requests in flight.
pub struct Device<'h> {
    hardware: &'h mut dyn Hardware,
    led: bool,
    sensor: Sensor,
    settings: &'h mut Settings,
    test: Option<SelfTest>,
    questions: Questions<'h>,
}

impl<'h> Device<'h> {
    /// Creates a device in the state after power-on. `responses` is for responses of the client.
    pub fn new(
        hardware: &'h mut dyn Hardware,
        settings: &'h mut Settings,
        responses: &'h mut Responses,
    ) -> Device<'h> {
        let questions = Questions::new(responses);
        Device { hardware, led: false, sensor: Sensor::new(), settings, test: None, questions }
    }

    /// Handles an event, after a poll has returned [`Action::Event`](mcp_proto::Action::Event).
    // Not inlined, because its stack frame must not be live while the server is polled.
    #[inline(never)]
    pub fn handle_event(&mut self, server: &mut Server<'_>, now: Millis) {
        let Some(event) = server.event() else { return };
        self.questions.observe(&event);
        match event {
            Event::Call(call) => self.call(call, now),
            Event::ReadResource(read) => self.read(read),
            Event::GetPrompt(prompt) => self.prompt(prompt),
            Event::Complete(request) => complete(request),
            Event::Cancelled { ticket, .. } | Event::Expired(ticket) => {
                self.test.take_if(|test| test.ticket == ticket);
            }
            Event::Restarted => self.drop_test(),
            Event::ProtocolError(fault) => self.hardware.report(fault),
            _ => {}
        }
    }

    /// Updates the temperature, and continues deferred requests. Call this method after each event, and when
    /// [`deadline`](Device::deadline) has passed.
    #[inline(never)]
    pub fn work(&mut self, server: &mut Server<'_>, now: Millis) {
        if self.sensor.update(now, self.led) {
            server.changed(Change::Resource(TEMPERATURE));
        }
        self.test = self.test.take().and_then(|test| test.step(server, self.hardware, now));
        InputRequests::step(self, server);
    }

    /// Returns the time at which the caller must call [`work`](Device::work), even if no input arrives.
    pub fn deadline(&self) -> Millis {
        let sensor = self.sensor.next();
        self.test.as_ref().map_or(sensor, |test| test.next.min(sensor))
    }

    /// Drops the self test of the old client.
    ///
    /// Call this when a new session starts.
    pub fn drop_test(&mut self) {
        self.test = None;
    }

    #[inline(never)]
    fn call(&mut self, call: Call<'_>, now: Millis) {
        match call.name() {
            "led_set" => self.set_led(call),
            "temperature" => self.measure(call),
            "settings_write" => self.write_settings(call),
            "self_test" => self.begin_test(call, now),
            "ask" => questions::ask(self, call),
            _ => call.unknown_tool(),
        }
    }

    #[inline(never)]
    fn measure(&self, call: Call<'_>) {
        let celsius = self.celsius();
        call.structured_with(|out| {
            out.begin_object();
            out.key("celsius");
            out.decimal(celsius);
            out.end_object();
        });
    }

    #[inline(never)]
    fn begin_test(&mut self, call: Call<'_>, now: Millis) {
        if self.test.is_some() {
            return call.fail("a test is running");
        }
        match call.defer(None) {
            Ok(ticket) => self.test = Some(SelfTest::new(ticket, now)),
            Err(call) => call.busy(),
        }
    }

    #[inline(never)]
    fn set_led(&mut self, call: Call<'_>) {
        call.with(|mut call, LedSet { on }| {
            self.led = on;
            self.hardware.set_led(on);
            _ = call.log(Level::Info, Some("led"), if on { "on" } else { "off" });
            call.text(if on { "the LED is on" } else { "the LED is off" });
        });
    }

    #[inline(never)]
    fn write_settings(&mut self, mut call: Call<'_>) {
        let written = match call.arguments() {
            Ok(SettingsWrite { text, at }) => self.settings.write(at.into(), text),
            Err(error) => return call.invalid(error),
        };
        match written {
            Ok(()) => {
                call.changed(Change::Resource(SETTINGS));
                call.text("written");
            }
            Err(why) => call.fail(why),
        }
    }

    #[inline(never)]
    fn read(&self, read: ReadResource<'_>) {
        let pin = read.variable("name").and_then(|name| name.as_str());
        match (read.uri(), pin) {
            (SETTINGS, _) => read.text(self.settings.text()),
            (TEMPERATURE, _) => read.text(self.celsius()),
            (_, Some("led")) => read.text(if self.led { "high" } else { "low" }),
            // An idle UART line is high, and the server has not started to send this response.
            (_, Some("rx" | "tx")) => read.text("high"),
            _ => read.not_found(),
        }
    }

    #[inline(never)]
    fn prompt(&self, prompt: GetPrompt<'_>) {
        // The server has already checked the required argument.
        let Some(symptom) = prompt.argument("symptom") else { return prompt.invalid("`symptom` is missing") };
        prompt.messages(|messages| {
            messages.user().resource_text(SETTINGS, Some("text/plain"), self.settings.text());
            messages.user().text(("The board ", symptom, ". What may be wrong?"));
        });
    }

    fn celsius(&self) -> Decimal {
        Decimal::new(self.sensor.tenths().into(), -1)
    }
}

impl<'h> AsMut<Questions<'h>> for Device<'h> {
    fn as_mut(&mut self) -> &mut Questions<'h> {
        &mut self.questions
    }
}

/// Completes pin names. The server itself completes the values in the tables.
#[inline(never)]
fn complete(request: Complete<'_>) {
    let mut typed = [0; 8];
    let typed = request.value().copy_to(&mut typed).unwrap_or("too long for a pin");
    request.values(PINS.iter().filter(|pin| pin.starts_with(typed)));
}
