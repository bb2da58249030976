//! Tool results with content of every kind.

use mcp_proto::server::{Call, Resource};
use mcp_proto::{Annotations, Decimal, Role};

/// An image of one pixel.
pub(crate) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\rIDATx\xdac\xfc\xcf\xc0\xf0\x1f\0\x05\x05\x02\0_\xc8\xf1\xd2\0\0\0\0IEND\xaeB`\x82";

/// A sound file without samples.
const WAV: &[u8] = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\0\0\0\0";

const FOR_PEOPLE: Annotations<'_> = Annotations::new().audience(&[Role::User]).priority(Decimal::new(9, -1));

pub(crate) fn show(call: Call<'_>) {
    call.content(|result| {
        result.text("A text, and one block of every other kind:");
        result.annotated(FOR_PEOPLE).image(PNG, "image/png");
        result.block().meta(r#"{"example/seconds":0}"#).audio(WAV, "audio/wav");
        result.resource_text("memo://1", Some("text/markdown"), "# A resource with text in it");
        result.resource_blob("memo://2", None, b"\0\x01\x02");
        result.link(&Resource::new("clock://ticks", "ticks").description("A resource to read"));
        result.structured_with(|value| {
            value.begin_object();
            value.field_integer("kinds", 6);
            value.end_object();
        });
    });
}

pub(crate) fn image(call: Call<'_>) {
    call.content(|result| result.image(PNG, "image/png"));
}

pub(crate) fn audio(call: Call<'_>) {
    call.content(|result| result.audio(WAV, "audio/wav"));
}

pub(crate) fn resource(call: Call<'_>) {
    call.content(|result| {
        result.resource_text("test://embedded-resource", None, "This is an embedded resource content.");
    });
}

pub(crate) fn several(call: Call<'_>) {
    call.content(|result| {
        result.text("Multiple content types test:");
        result.image(PNG, "image/png");
        let (uri, json) = ("test://mixed-content-resource", r#"{"test":"data","value":123}"#);
        result.resource_text(uri, Some("application/json"), json);
    });
}
