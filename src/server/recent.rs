//! What was asked for last. Most servers are asked for the same again and again: hosts look there first, and small boards,
//! where memory is short, remember nothing.
#![allow(clippy::as_conversions, reason = "whether it is fast is how many there are")]

use crate::json::{FAST, Str};
use crate::protocol::methods::Method;
use crate::protocol::revision::Revision;
use crate::server::config::ServerConfig;
use crate::server::feature::Feature;
use crate::server::usual::Usual;

/// One on hosts, elsewhere none.
pub(crate) struct Recent<'b>([Memory<'b>; FAST as usize]);

struct Memory<'b> {
    called: Option<Called<'b>>,
    /// What the request that is handed out next names, if it was found in a catalogue, word by word.
    subject: Option<&'b str>,
    usual: Option<Usual<'b>>,
}

/// A method that was called, and who has it.
#[derive(Clone, Copy)]
struct Called<'b> {
    name: &'static str,
    revision: Revision,
    found: (&'b dyn Feature, usize),
}

impl<'b> Recent<'b> {
    pub(crate) const NONE: Self =
        Recent([const { Memory { called: None, subject: None, usual: None } }; FAST as usize]);

    /// The feature that has this method in the revision of a request, and its place among the methods of the feature.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn method(
        &mut self,
        info: &'b ServerConfig<'b>,
        revision: Revision,
        name: Str<'_>,
    ) -> Option<(&'b dyn Feature, usize)> {
        let Some(memory) = self.0.first_mut() else { return find(info, revision, name) };
        // No name of a method has a backslash: what is the same byte by byte is the same.
        match &memory.called {
            Some(called) if called.revision == revision && name.bytes() == called.name.as_bytes() => {
                Some(called.found)
            }
            _ => memory.method(info, revision, name),
        }
    }

    /// Keeps what the request names that is handed out next.
    #[inline]
    pub(crate) fn set_subject(&mut self, subject: Option<&'b str>) {
        if let Some(memory) = self.0.first_mut() {
            memory.subject = subject;
        }
    }

    /// Keeps what became of a request, as others like it do. `None`: not any more, because another session begins.
    pub(crate) fn set_usual(&mut self, usual: Option<Usual<'b>>) {
        if let Some(memory) = self.0.first_mut() {
            memory.usual = usual;
        }
    }

    /// Who has the method that was called last.
    pub(crate) fn feature(&self) -> Option<&'b dyn Feature> {
        let (feature, _) = self.0.first()?.called.as_ref()?.found;
        Some(feature)
    }

    #[inline]
    pub(crate) fn usual_mut(&mut self) -> Option<&mut Usual<'b>> {
        self.0.first_mut()?.usual.as_mut()
    }

    #[inline]
    pub(crate) fn usual(&self) -> Option<&Usual<'b>> {
        self.0.first()?.usual.as_ref()
    }

    /// What the request names that is handed out now.
    #[inline]
    pub(crate) fn subject(&self) -> Option<&'b str> {
        self.0.first()?.subject
    }
}

impl<'b> Memory<'b> {
    #[inline(never)]
    fn method(
        &mut self,
        info: &'b ServerConfig<'b>,
        revision: Revision,
        name: Str<'_>,
    ) -> Option<(&'b dyn Feature, usize)> {
        let found = find(info, revision, name)?;
        let (feature, index) = found;
        self.called =
            feature.methods().get(index).map(|method| Called { name: method.name, revision, found });
        Some(found)
    }
}

fn find<'b>(
    info: &'b ServerConfig<'b>,
    revision: Revision,
    name: Str<'_>,
) -> Option<(&'b dyn Feature, usize)> {
    let called = |method: &Method| name == method.name && method.by_client.contains(revision);
    info.features.iter().find_map(|feature| Some((*feature, feature.methods().iter().position(called)?)))
}
