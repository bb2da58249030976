//! Requests for skills and folders.

use crate::error::SendError;
use crate::json::Writer;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;

use crate::client::Client;
use crate::client::lists::List;
use crate::client::options::Options;

impl Client<'_> {
    /// Lists the skills. The client emits an [`Event::Skills`](crate::client::Event::Skills) for each page. The client
    /// requests the next page by itself.
    ///
    /// To read a file of a skill, call [`read_resource`](Client::read_resource), but only when the file is needed.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server does not declare the
    /// extension of skills.
    pub fn list_skills(&mut self, options: Options<'_>) -> Result<Ticket, SendError> {
        self.list(List::Skills, options)
    }

    /// Requests a skill by the URI of its `SKILL.md`. The server may respond with a skill that its list lacks.
    /// [`Response::skill`](crate::client::Response::skill) returns the skill.
    ///
    /// # Errors
    /// Same as [`list_skills`](Client::list_skills).
    pub fn get_skill(&mut self, uri: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::SKILLS)?;
        self.begin_with_uri(methods::SKILLS_GET.name, uri, options)
    }

    /// Lists the files and folders in a folder. `None` as `cursor` requests the first page.
    /// [`Response::directory`](crate::client::Response::directory) returns the page.
    ///
    /// # Errors
    /// Same as [`list_resources`](Client::list_resources). [`SendError::Unsupported`]: the server does not declare
    /// `directoryRead`.
    pub fn read_directory(
        &mut self,
        uri: &str,
        cursor: Option<&str>,
        options: Options<'_>,
    ) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::SKILLS_DIRECTORY_READ)?;
        let mut params = |out: &mut Writer<'_>| {
            out.field_string("uri", uri);
            out.field_optional("cursor", cursor);
        };
        self.state.begin_request(methods::RESOURCES_DIRECTORY_READ.name, options, &mut params)
    }
}
