//! Feature `Skills`: `skills/list`, `skills/get`, `resources/directory/read`, and the resources of skills.
//!
//! Specification: the extension *Skills* of `2026-07-28`.

use crate::error::{ConfigError, InvalidSkill};
use crate::json::{Str, Writer};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::const_text::is_same_text;
use crate::protocol::objects::resource_contents::write_contents;
use crate::protocol::objects::skill::{EXTENSION, Skill, SkillFile};
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed, write_list_capability};
use crate::server::features::catalog::{Catalog, Found};
use crate::server::features::extensions::{Extensions, write_extensions};
use crate::server::features::pagination;
use crate::server::features::resources::not_found;
use crate::server::features::skill_directory::read_directory;
use crate::server::server_state::Shape;

/// The feature *skills* (since `2026-07-28`): instructions for agents, such as how to use a device.
///
/// ```
/// use mcp_proto::server::{ServerConfig, Skill, SkillFile, Skills};
/// static SKILLS: Skills = Skills::new(&[
///     // Usually `include_str!("blink/SKILL.md")`.
///     Skill::new("skill://blink/SKILL.md", "---\nname: blink\ndescription: How to use the LEDs\n---\n")
///         .files(&[SkillFile::text("pins/arduino.csv", "led,pin\n1,13\n").mime_type("text/csv")]),
/// ])
/// .directory_read();
/// static CONFIG: ServerConfig = ServerConfig::new("board", "1.0.0").features(&[&SKILLS]);
/// ```
///
/// The server responds to requests about skills by itself, except for files that the
/// [application](SkillFile::by_application) reads. Clients of earlier revisions read the files as resources.
///
/// If the server also has the feature [`Resources`](crate::server::Resources), place `Skills` before `Resources` in the
/// configuration. `Resources` then handles all resources except the files whose content is in the catalog of `Skills`,
/// and responds to `resources/list`. To include a skill in this list, add its [`Skill::resource`] to `Resources`.
/// Without `Resources`, the server lists the `SKILL.md` of each skill.
///
/// Configure at most one feature `Skills` per server.
///
/// The server sends a file of the catalog in one message, so the transmit buffer must be longer than the longest file.
#[derive(Debug, Clone, Copy)]
pub struct Skills<'t> {
    catalog: &'t [Skill<'t>],
    /// The function that handles `resources/directory/read`. `None` unless the server declares `directoryRead`, so that
    /// the linker can drop the function.
    read_directory: Option<ReadDirectory>,
}

type ReadDirectory = fn(&[Skill<'_>], &mut Request<'_, '_>, Str<'_>) -> Received;

/// Returns the first error: a skill that breaks a rule, a URI that occurs twice, or a skill in the folder of another
/// skill. Returns `None` if the catalog is valid.
const fn invalid<'t>(catalog: &'t [Skill<'t>]) -> Option<ConfigError> {
    let (mut rest, mut entry) = (catalog, 0usize);
    while let [skill, tail @ ..] = rest {
        if let Some(error) = skill.invalid() {
            return Some(ConfigError::InvalidSkill { entry, error });
        }
        let mut others = tail;
        let mut other_entry = entry;
        while let [other, tail @ ..] = others {
            (others, other_entry) = (tail, other_entry.wrapping_add(1));
            if is_same_text(skill.uri, other.uri) {
                return Some(ConfigError::DuplicateName { entry: other_entry });
            }
            if skill.is_in(other) {
                return Some(ConfigError::InvalidSkill { entry, error: InvalidSkill::Nested });
            }
            if other.is_in(skill) {
                return Some(ConfigError::InvalidSkill { entry: other_entry, error: InvalidSkill::Nested });
            }
        }
        (rest, entry) = (tail, entry.wrapping_add(1));
    }
    None
}

impl<'t> Skills<'t> {
    /// Creates the feature with a static catalog.
    ///
    /// Use this function in constants and statics, where an invalid skill does not compile. In the following example,
    /// the URI and the frontmatter have different names:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Skill, Skills};
    /// static SKILLS: Skills = Skills::new(&[
    ///     Skill::new("skill://blink/SKILL.md", "---\nname: blinky\ndescription: How to use the LEDs\n---\n"),
    /// ]);
    /// ```
    ///
    /// # Panics
    /// A skill breaks a rule of [`InvalidSkill`], or two skills have the same URI. Exception:
    /// [`Server::new`](crate::Server::new) checks the rules about the feature `Resources`, `directoryRead`, and
    /// frontmatter in JSON. At run time, use [`try_new`](Skills::try_new).
    #[must_use]
    #[expect(clippy::panic, reason = "meant for constants and statics, where a panic is a compile error")]
    pub const fn new(catalog: &'t [Skill<'t>]) -> Skills<'t> {
        match Skills::try_new(catalog) {
            Ok(skills) => skills,
            Err(ConfigError::InvalidSkill { error, .. }) => panic!("{}", error.message()),
            Err(_) => panic!("two skills have the same URI: URIs must be unique"),
        }
    }

    /// Creates the feature with a catalog that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::InvalidSkill`]: a skill breaks a rule that [`new`](Skills::new) checks.
    /// [`ConfigError::DuplicateName`]: two skills have the same URI.
    pub const fn try_new(catalog: &'t [Skill<'t>]) -> Result<Skills<'t>, ConfigError> {
        match invalid(catalog) {
            Some(error) => Err(error),
            None => Ok(Skills { catalog, read_directory: None }),
        }
    }

    /// Declares `directoryRead`: clients can list the files of a folder. [`Server::new`](crate::Server::new) then
    /// refuses [dynamic](Skill::dynamic) skills.
    #[must_use]
    pub const fn directory_read(mut self) -> Self {
        self.read_directory = Some(read_directory);
        self
    }
}

// Indices in `METHODS`.
const LIST: usize = 0;
const GET: usize = 1;
const READ: usize = 2;
const LIST_RESOURCES: usize = 3;
const LIST_TEMPLATES: usize = 4;

/// All methods. The last method belongs to `directoryRead`.
const METHODS: &[Method] = &[
    methods::SKILLS_LIST.including_extension(),
    methods::SKILLS_GET.including_extension(),
    methods::RESOURCES_READ,
    methods::RESOURCES_LIST,
    methods::RESOURCES_TEMPLATES_LIST,
    methods::RESOURCES_DIRECTORY_READ.including_extension(),
];

static DECLARED: Extensions<'static> = Extensions::new(&[(EXTENSION, "{}")]);
static WITH_DIRECTORIES: Extensions<'static> = Extensions::new(&[(EXTENSION, r#"{"directoryRead":true}"#)]);

impl Feature for Skills<'_> {}

impl Sealed for Skills<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
        if resources_of(config.features, methods::RESOURCES_READ.name).is_none() {
            write_list_capability("resources", false, out);
        }
        write_extensions(self.declared(), config, revision, out);
    }

    fn find(&self, catalog: Catalog, _: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Extensions => Found::Extensions(self.declared()),
            _ => Found::Absent,
        }
    }

    fn methods(&self) -> &'static [Method] {
        match METHODS {
            [methods @ .., _] if self.read_directory.is_none() => methods,
            _ => METHODS,
        }
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        if method == LIST {
            return self.list(request);
        }
        if let LIST_RESOURCES | LIST_TEMPLATES = method {
            return self.list_resources(method, request);
        }
        let Some(uri) = request.param("uri").string() else {
            return request.invalid_params("`uri` must be a URI");
        };
        match method {
            GET => self.get(request, uri),
            READ => self.read(request, uri),
            _ => match self.read_directory {
                Some(read_directory) => read_directory(self.catalog, request, uri),
                None => not_found(request, uri),
            },
        }
    }

    fn contains_uri(&self, uri: Str<'_>) -> Option<bool> {
        self.find_file(uri).map(|_| true)
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        let (revision, config) = (results.revision, results.config);
        for (entry, skill) in self.catalog.iter().enumerate() {
            pagination::check_objects(entry, [skill.frontmatter, None, None])?;
            if let Some(error) = self.invalid(skill, config) {
                return Err(ConfigError::InvalidSkill { entry, error });
            }
            if revision.has(WireFeature::Extensions) {
                pagination::measure_entry("skills", results, &mut |out: &mut Writer<'_>| skill.write(out));
            }
            // Measure only the newest revision, because its results are the longest.
            if config.revisions.latest() == Some(revision) {
                for file in skill.all_files() {
                    results.measure(Shape::List, &mut |out: &mut Writer<'_>| write_file(skill, file, out));
                }
            }
        }
        Ok(())
    }
}

/// Finds the first feature other than `Skills` with the method `name`, and the index of the method in this feature.
/// Returns `None` if there is no such feature.
fn resources_of<'b>(features: &'b [&'b dyn Feature], name: &str) -> Option<(&'b dyn Feature, usize)> {
    features.iter().filter(|feature| !is_skills(**feature)).find_map(|feature| {
        let method = feature.methods().iter().position(|method| method.name == name)?;
        Some((*feature, method))
    })
}

pub(crate) fn is_skills(feature: &dyn Feature) -> bool {
    feature.methods().first().is_some_and(|method| method.name == methods::SKILLS_LIST.name)
}

fn write_file(skill: &Skill<'_>, file: &SkillFile<'_>, out: &mut Writer<'_>) {
    if let Some(body) = file.body() {
        out.begin_array_at("contents");
        write_contents(out, &(skill.directory(), "/", file.path), file.media_type(), body);
        out.end_array();
    }
}

/// Returns whether the URI is the concatenation of these parts.
pub(crate) fn is_uri(uri: Str<'_>, parts: [&str; 3]) -> bool {
    uri.chars().eq(parts.into_iter().flat_map(str::chars))
}

impl Skills<'_> {
    fn declared(&self) -> &'static Extensions<'static> {
        if self.read_directory.is_some() { &WITH_DIRECTORIES } else { &DECLARED }
    }

    /// Checks the rules that depend on the configuration, and the rules for frontmatter in JSON. Returns the first
    /// broken rule, or `None` if the skill breaks none.
    fn invalid(&self, skill: &Skill<'_>, config: &ServerConfig<'_>) -> Option<InvalidSkill> {
        let is_dynamic = skill.main.is_none();
        let by_application = is_dynamic || skill.all_files().any(|file| file.body().is_none());
        let mut before = config.features.iter().take_while(|feature| !is_skills(**feature));
        let is_resources = |feature: &&dyn Feature| {
            feature.methods().iter().any(|method| method.name == methods::RESOURCES_READ.name)
        };
        if before.any(is_resources) {
            return Some(InvalidSkill::Order);
        }
        if by_application && resources_of(config.features, methods::RESOURCES_READ.name).is_none() {
            return Some(InvalidSkill::NoResources);
        }
        if is_dynamic && self.read_directory.is_some() {
            return Some(InvalidSkill::Directory);
        }
        skill.invalid_json()
    }

    fn find_file(&self, uri: Str<'_>) -> Option<(&Skill<'_>, &SkillFile<'_>)> {
        self.catalog.iter().find_map(|skill| {
            let mut files = skill.all_files();
            let file = files.find(|file| is_uri(uri, [skill.directory(), "/", file.path]))?;
            Some((skill, file))
        })
    }

    fn list(&self, request: &mut Request<'_, '_>) -> Received {
        pagination::respond_with(request, Shape::List, "skills", None, &mut |index, _, out| {
            self.catalog.get(index)?.write(out);
            Some(true)
        })
    }

    fn get(&self, request: &mut Request<'_, '_>, uri: Str<'_>) -> Received {
        let Some(skill) = self.catalog.iter().find(|skill| uri == skill.uri) else {
            return not_found(request, uri);
        };
        request.list(&mut |out: &mut Writer<'_>| {
            out.key("skill");
            skill.write(out);
        })
    }

    /// Responds with a file whose content is in the catalog. Passes all other requests to the feature `Resources`.
    /// Refuses these requests if the server does not have that feature.
    fn read<'b>(&'b self, request: &mut Request<'_, 'b>, uri: Str<'_>) -> Received {
        if let Some((skill, file)) = self.find_file(uri)
            && file.body().is_some()
        {
            return request.list(&mut |out: &mut Writer<'_>| write_file(skill, file, out));
        }
        match resources_of(request.state.config.features, methods::RESOURCES_READ.name) {
            Some((feature, method)) => feature.handle(method, request),
            None => not_found(request, uri),
        }
    }

    /// Responds with the list of resources or templates. If the server has the feature `Resources`, that feature
    /// responds.
    fn list_resources<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        let (name, key, length) = match method {
            LIST_RESOURCES => (methods::RESOURCES_LIST.name, "resources", self.catalog.len()),
            _ => (methods::RESOURCES_TEMPLATES_LIST.name, "resourceTemplates", 0),
        };
        if let Some((feature, method)) = resources_of(request.state.config.features, name) {
            return feature.handle(method, request);
        }
        pagination::respond_with(request, Shape::List, key, None, &mut |index, _, out| {
            self.catalog.get(index).filter(|_| index < length)?.write_resource(out);
            Some(true)
        })
    }
}
