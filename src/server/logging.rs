//! Logging: the level that a client wants.
//!
//! Specification: *Server features*, *Utilities*, *Logging*.

use crate::fault::{Fault, Misuse};
use crate::json::{Json, Writer};
use crate::methods::{self, Method};
use crate::server::feature::{Feature, Handled, Measure, Request, Sealed};
use crate::server::info::ServerInfo;
use crate::types::level::Level;
use crate::version::Revision;

/// The feature *logging*: log messages, filtered by the level that the client set (`logging/setLevel`), or that the
/// request named (`2026-07-28`).
#[derive(Debug, Clone, Copy, Default)]
pub struct Logging;

impl Feature for Logging {}

impl Sealed for Logging {
    fn write_capability(&self, _: Revision, out: &mut Writer<'_>) {
        out.key("logging");
        out.token("{}");
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::LOGGING_SET_LEVEL]
    }

    fn handle(&self, _: usize, request: &mut Request<'_, '_>) -> Handled {
        let Some(level) = request.param("level").and_then(Json::string).and_then(Level::of) else {
            return request
                .refuse(Fault::InvalidParams, &"`level` must be the name of a level, debug to emergency");
        };
        if let Some(session) = &mut request.core.session {
            session.level = Some(level);
        }
        request.result(&mut |_| {})
    }

    fn is_logging(&self) -> bool {
        true
    }

    fn check(&self, _: Revision, _: &ServerInfo<'_>, _: Measure<'_>) -> Result<(), Misuse> {
        Ok(())
    }
}
