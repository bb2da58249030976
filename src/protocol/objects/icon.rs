//! Icons of servers, clients and list entries.
//!
//! Specification: from 2025-11-25 on, *Base protocol*, *Icons*.

use crate::json::{Json, Str, Writer};
use crate::protocol::objects::optional_members::write_array_member;
use crate::protocol::objects::size;
use crate::protocol::objects::view::{list, text, view};
use crate::protocol::revision::{Revision, WireFeature};

/// An image for a user interface (from `2025-11-25` on). Servers and clients omit icons in older revisions.
///
/// ```
/// use mcp_proto::{Icon, Theme};
/// static ICONS: [Icon; 1] =
///     [Icon::new("https://example.com/led.png").mime_type("image/png").sizes(&["48x48"]).theme(Theme::Dark)];
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Icon<'i> {
    src: &'i str,
    mime_type: Option<&'i str>,
    sizes: &'i [&'i str],
    theme: Option<Theme>,
}

/// The background for which an icon is designed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// A light background.
    Light,
    /// A dark background.
    Dark,
}

impl<'i> Icon<'i> {
    /// Creates an icon with this URI. The scheme must be `https:`, or `data:` with the image in base64.
    #[must_use]
    pub const fn new(src: &'i str) -> Icon<'i> {
        Icon { src, mime_type: None, sizes: &[], theme: None }
    }

    /// Sets the media type, such as `image/png`. This method is necessary only if the URI does not determine the media
    /// type.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'i str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the suitable sizes, such as `48x48`. The size of a scalable image is `any`.
    #[must_use]
    pub const fn sizes(mut self, sizes: &'i [&'i str]) -> Self {
        self.sizes = sizes;
        self
    }

    /// Sets the background for which the icon is designed.
    #[must_use]
    pub const fn theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }

    /// Returns the maximum size of the object and its comma, in bytes.
    const fn size(&self) -> usize {
        let mut length = r#"{},"theme":"light""#.len();
        let mut sizes = self.sizes;
        while let [size, tail @ ..] = sizes {
            length = length.saturating_add(size::string(size)).saturating_add(1);
            sizes = tail;
        }
        length
            .saturating_add(size::text("src", Some(self.src)))
            .saturating_add(size::text("mimeType", self.mime_type))
            .saturating_add(r#","sizes":[]"#.len())
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_string("src", self.src);
        out.field_optional("mimeType", self.mime_type);
        write_array_member("sizes", self.sizes, out, |size, out| out.string(size));
        let theme = self.theme.map(|theme| if theme == Theme::Light { "light" } else { "dark" });
        out.field_optional("theme", theme);
        out.end_object();
    }
}

/// A list of icons, with the function that writes the list. A program without icons does not link this function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Icons<'i> {
    icons: &'i [Icon<'i>],
    write: Option<fn(&[Icon<'_>], &mut Writer<'_>)>,
}

impl<'i> Icons<'i> {
    pub(crate) const NONE: Icons<'static> = Icons { icons: &[], write: None };

    pub(crate) const fn new(icons: &'i [Icon<'i>]) -> Icons<'i> {
        Icons { icons, write: Some(write_icons) }
    }

    /// Returns the maximum size of the member `icons` and its comma, in bytes.
    pub(crate) const fn size(&self) -> usize {
        let (mut length, mut rest) = (0usize, self.icons);
        while let [icon, tail @ ..] = rest {
            length = length.saturating_add(icon.size());
            rest = tail;
        }
        if length == 0 { 0 } else { length.saturating_add(r#","icons":[]"#.len()) }
    }

    /// Writes the member `icons`. Omits the member if the list is empty, or if the revision has no icons.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        if let Some(write) = self.write.filter(|_| revision.has(WireFeature::Icons)) {
            write(self.icons, out);
        }
    }
}

fn write_icons(icons: &[Icon<'_>], out: &mut Writer<'_>) {
    write_array_member("icons", icons, out, Icon::write);
}

view! {
    /// An icon. The application must check the URI before it fetches the image, because the server chooses the URI.
    ///
    /// Specification: *Icons*.
    IconView with mime
}

impl<'a> IconView<'a> {
    /// Returns the URI of the image. The scheme should be `https` or `data`.
    #[must_use]
    pub fn source(&self) -> Option<Str<'a>> {
        text(self.json, "src")
    }

    /// Returns the intended sizes, such as `48x48`. The size of a scalable image is `any`.
    pub fn sizes(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "sizes").filter_map(Json::string)
    }

    /// Returns the intended theme. The specification defines `light` and `dark`.
    #[must_use]
    pub fn theme(&self) -> Option<Str<'a>> {
        text(self.json, "theme")
    }
}
