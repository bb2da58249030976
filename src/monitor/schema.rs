//! Tables of the shapes of parameters and results, from the schemas of all revisions.

use super::shape::{Member, Row, Shape, optional, required};
use crate::json::Kind;
use crate::protocol::revision::{Revisions, WireFeature};

const TEXT: Shape = Shape::Is(Kind::String);
const FLAG: Shape = Shape::Is(Kind::Bool);
const NUMBER: Shape = Shape::Is(Kind::Number);
const OBJECT: Shape = Shape::Is(Kind::Object);
const TEXTS: Shape = Shape::List(&TEXT);
const TEXT_MAP: Shape = Shape::Map(&TEXT);
const ROLE: Shape = Shape::OneOf(&["user", "assistant"]);
const LEVEL: Shape =
    Shape::OneOf(&["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);
const ALWAYS: Revisions = Revisions::ALL;

const CURSOR: Member = optional("cursor", TEXT);
const NEXT: Member = optional("nextCursor", TEXT);
const META: Member = optional("_meta", OBJECT);
const TTL: Member = required("ttlMs", Shape::Integer).with_feature(WireFeature::ResultTypes);
const SCOPE: Member =
    required("cacheScope", Shape::OneOf(&["public", "private"])).with_feature(WireFeature::ResultTypes);

const ICONS: Member = optional(
    "icons",
    Shape::List(&Shape::Object(&[
        required("src", TEXT),
        optional("mimeType", TEXT),
        optional("sizes", TEXTS),
        optional("theme", Shape::OneOf(&["light", "dark"])),
    ])),
)
.with_feature(WireFeature::Icons);
const TITLE: Member = optional("title", TEXT).with_feature(WireFeature::Titles);
const ANNOTATIONS: Member = optional(
    "annotations",
    Shape::Object(&[
        optional("audience", Shape::List(&ROLE)),
        optional("priority", NUMBER),
        optional("lastModified", TEXT).with_feature(WireFeature::LastModified),
    ]),
);
const IMPLEMENTATION: Shape = Shape::Object(&[
    required("name", TEXT),
    required("version", TEXT),
    TITLE,
    optional("description", TEXT).with_feature(WireFeature::ImplementationDetails),
    optional("websiteUrl", TEXT).with_feature(WireFeature::ImplementationDetails),
    ICONS,
]);

const CHANGES: Shape = Shape::Object(&[optional("listChanged", FLAG)]);
const CLIENT_CAPABILITIES: Shape = Shape::Object(&[
    optional("experimental", Shape::Map(&OBJECT)),
    optional("roots", CHANGES),
    optional("sampling", OBJECT),
    optional("elicitation", OBJECT).with_feature(WireFeature::Elicitation),
    optional("tasks", OBJECT).with_feature(WireFeature::Tasks),
    optional("extensions", Shape::Map(&OBJECT)).with_feature(WireFeature::Extensions),
]);
const SERVER_CAPABILITIES: Shape = Shape::Object(&[
    optional("experimental", Shape::Map(&OBJECT)),
    optional("logging", OBJECT),
    optional("completions", OBJECT).with_feature(WireFeature::CompletionsCapability),
    optional("prompts", CHANGES),
    optional("resources", Shape::Object(&[optional("subscribe", FLAG), optional("listChanged", FLAG)])),
    optional("tools", CHANGES),
    optional("tasks", OBJECT).with_feature(WireFeature::Tasks),
    optional("extensions", Shape::Map(&OBJECT)).with_feature(WireFeature::Extensions),
]);

/// The revisions in which structured results must be objects.
const OBJECTS_ONLY: Revisions = WireFeature::StructuredContent.revisions().and(Revisions::HANDSHAKE);
const SCHEMA: Shape = Shape::Object(&[required("type", Shape::OneOf(&["object"]))]);
const TOOL: Shape = Shape::Object(&[
    required("name", TEXT),
    optional("description", TEXT),
    required("inputSchema", SCHEMA),
    optional("annotations", OBJECT).with_feature(WireFeature::ToolAnnotations),
    TITLE,
    Member { revisions: OBJECTS_ONLY, ..optional("outputSchema", SCHEMA) },
    optional("outputSchema", OBJECT).with_feature(WireFeature::StructuredValues),
    ICONS,
    META,
]);
const RESOURCE_MEMBERS: &[Member] = &[
    required("uri", TEXT),
    required("name", TEXT),
    TITLE,
    optional("description", TEXT),
    optional("mimeType", TEXT),
    optional("size", Shape::Integer),
    ANNOTATIONS,
    ICONS,
    META,
];
const TEMPLATE: Shape = Shape::Object(&[
    required("uriTemplate", TEXT),
    required("name", TEXT),
    TITLE,
    optional("description", TEXT),
    optional("mimeType", TEXT),
    ANNOTATIONS,
    ICONS,
    META,
]);
const PROMPT: Shape = Shape::Object(&[
    required("name", TEXT),
    TITLE,
    optional("description", TEXT),
    optional(
        "arguments",
        Shape::List(&Shape::Object(&[
            required("name", TEXT),
            TITLE,
            optional("description", TEXT),
            optional("required", FLAG),
        ])),
    ),
    ICONS,
    META,
]);
const CONTENTS: Shape = Shape::Exactly(
    &["text", "blob"],
    &Shape::Object(&[
        required("uri", TEXT),
        optional("mimeType", TEXT),
        optional("text", TEXT),
        optional("blob", TEXT),
        META,
    ]),
);

const TEXT_BLOCK: &[Member] = &[required("text", TEXT), ANNOTATIONS, META];
const DATA_BLOCK: &[Member] = &[required("data", TEXT), required("mimeType", TEXT), ANNOTATIONS, META];
const fn row(tag: &'static str, revisions: Revisions, members: &'static [Member]) -> Row {
    Row { tag, revisions, members }
}
const CONTENT: Shape = Shape::Tagged(
    "type",
    &[
        row("text", ALWAYS, TEXT_BLOCK),
        row("image", ALWAYS, DATA_BLOCK),
        row("audio", WireFeature::Audio.revisions(), DATA_BLOCK),
        row("resource", ALWAYS, &[required("resource", CONTENTS), ANNOTATIONS, META]),
        row("resource_link", WireFeature::ResourceLinks.revisions(), RESOURCE_MEMBERS),
    ],
);
const SAMPLING_TOOLS: Revisions = WireFeature::SamplingTools.revisions();
const SAMPLED: Shape = Shape::Blocks(&Shape::Tagged(
    "type",
    &[
        row("text", ALWAYS, TEXT_BLOCK),
        row("image", ALWAYS, DATA_BLOCK),
        row("audio", WireFeature::Audio.revisions(), DATA_BLOCK),
        row(
            "tool_use",
            SAMPLING_TOOLS,
            &[required("id", TEXT), required("name", TEXT), required("input", OBJECT)],
        ),
        row(
            "tool_result",
            SAMPLING_TOOLS,
            &[required("toolUseId", TEXT), required("content", Shape::List(&CONTENT))],
        ),
    ],
));

const TASK_MEMBERS: &[Member] = &[
    required("taskId", TEXT),
    required("status", Shape::OneOf(&["working", "input_required", "completed", "failed", "cancelled"])),
    required("createdAt", TEXT),
    required("lastUpdatedAt", TEXT),
    required("ttl", Shape::NullableInteger).with_feature(WireFeature::Tasks),
    required("ttlMs", Shape::NullableInteger).with_feature(WireFeature::TasksExtension),
    optional("statusMessage", TEXT),
];
const TASK: Shape = Shape::Object(TASK_MEMBERS);

/// The results that create a task. In `2025-11-25`, the task is a member. In the tasks extension, the task is the
/// result itself.
pub(super) const CREATED_TASK: [Shape; 2] = [Shape::Object(&[required("task", TASK)]), TASK];

/// The result that requires input.
pub(super) const REQUIRED_INPUT: Shape =
    Shape::Object(&[optional("inputRequests", Shape::Map(&OBJECT)), optional("requestState", TEXT)]);

/// The shape of an error.
pub(super) const ERROR: Shape = Shape::Object(&[required("code", Shape::Integer), required("message", TEXT)]);

/// The required members of `data` by error code (`2026-07-28`).
pub(super) const ERROR_DATA: &[(i64, Shape)] = &[
    (-32021, Shape::Object(&[required("requiredCapabilities", OBJECT)])),
    (-32022, Shape::Object(&[required("supported", TEXTS), required("requested", TEXT)])),
];

/// The shapes of a method: its parameters, and the result of a request.
pub(super) struct MethodShapes {
    name: &'static str,
    pub(super) params: Shape,
    pub(super) result: Shape,
}

/// Returns the shapes of a method, or `None` for an unknown method.
pub(super) fn shapes(method: &str) -> Option<&'static MethodShapes> {
    METHODS.iter().find(|row| row.name == method)
}

const fn request(name: &'static str, params: &'static [Member], result: &'static [Member]) -> MethodShapes {
    MethodShapes { name, params: Shape::Object(params), result: Shape::Object(result) }
}

const fn notification(name: &'static str, params: &'static [Member]) -> MethodShapes {
    MethodShapes { name, params: Shape::Object(params), result: Shape::Any }
}

const FILTER: Shape = Shape::Object(&[
    optional("toolsListChanged", FLAG),
    optional("promptsListChanged", FLAG),
    optional("resourcesListChanged", FLAG),
    optional("resourceSubscriptions", TEXTS),
]);
/// A field of a form is a primitive value, or an array of choices.
const FIELD: Shape = Shape::Tagged(
    "type",
    &[
        row("string", ALWAYS, &[]),
        row("number", ALWAYS, &[]),
        row("integer", ALWAYS, &[]),
        row("boolean", ALWAYS, &[]),
        row("array", WireFeature::FormChoices.revisions(), &[required("items", OBJECT)]),
    ],
);
const FORM: Shape =
    Shape::Object(&[required("type", Shape::OneOf(&["object"])), required("properties", Shape::Map(&FIELD))]);
const FORM_INPUT: &[Member] = &[
    META,
    required("message", TEXT),
    optional("mode", Shape::OneOf(&["form", "url"])).with_feature(WireFeature::ElicitationModes),
    required("requestedSchema", FORM),
];
const URL_INPUT: &[Member] = &[
    META,
    required("message", TEXT),
    required("url", TEXT),
    required("elicitationId", TEXT).with_feature(WireFeature::ElicitationIds),
];
const URI: &[Member] = &[META, required("uri", TEXT)];
const TASK_ID: &[Member] = &[META, required("taskId", TEXT)];
const PAGE: &[Member] = &[META, CURSOR];

static METHODS: &[MethodShapes] = &[
    request(
        "initialize",
        &[
            META,
            required("protocolVersion", TEXT),
            required("capabilities", CLIENT_CAPABILITIES),
            required("clientInfo", IMPLEMENTATION),
        ],
        &[
            META,
            required("protocolVersion", TEXT),
            required("capabilities", SERVER_CAPABILITIES),
            required("serverInfo", IMPLEMENTATION),
            optional("instructions", TEXT),
        ],
    ),
    request("ping", &[META], &[META]),
    request(
        "server/discover",
        &[META],
        &[
            META,
            required("supportedVersions", TEXTS),
            required("capabilities", SERVER_CAPABILITIES),
            optional("instructions", TEXT),
            TTL,
            SCOPE,
        ],
    ),
    request("tools/list", PAGE, &[META, required("tools", Shape::List(&TOOL)), NEXT, TTL, SCOPE]),
    request(
        "tools/call",
        &[META, required("name", TEXT), optional("arguments", OBJECT)],
        &[
            META,
            required("content", Shape::List(&CONTENT)),
            optional("isError", FLAG),
            Member { revisions: OBJECTS_ONLY, ..optional("structuredContent", OBJECT) },
        ],
    ),
    request(
        "resources/list",
        PAGE,
        &[META, required("resources", Shape::List(&Shape::Object(RESOURCE_MEMBERS))), NEXT, TTL, SCOPE],
    ),
    request(
        "resources/templates/list",
        PAGE,
        &[META, required("resourceTemplates", Shape::List(&TEMPLATE)), NEXT, TTL, SCOPE],
    ),
    request("resources/read", URI, &[META, required("contents", Shape::List(&CONTENTS)), TTL, SCOPE]),
    request("resources/subscribe", URI, &[META]),
    request("resources/unsubscribe", URI, &[META]),
    request("prompts/list", PAGE, &[META, required("prompts", Shape::List(&PROMPT)), NEXT, TTL, SCOPE]),
    request(
        "prompts/get",
        &[META, required("name", TEXT), optional("arguments", TEXT_MAP)],
        &[
            META,
            optional("description", TEXT),
            required(
                "messages",
                Shape::List(&Shape::Object(&[required("role", ROLE), required("content", CONTENT)])),
            ),
        ],
    ),
    request(
        "completion/complete",
        &[
            META,
            required(
                "ref",
                Shape::Tagged(
                    "type",
                    &[
                        row("ref/prompt", ALWAYS, &[required("name", TEXT)]),
                        row("ref/resource", ALWAYS, &[required("uri", TEXT)]),
                    ],
                ),
            ),
            required("argument", Shape::Object(&[required("name", TEXT), required("value", TEXT)])),
            optional("context", Shape::Object(&[optional("arguments", TEXT_MAP)]))
                .with_feature(WireFeature::CompletionContext),
        ],
        &[
            META,
            required(
                "completion",
                Shape::Object(&[
                    required("values", TEXTS),
                    optional("total", Shape::Integer),
                    optional("hasMore", FLAG),
                ]),
            ),
        ],
    ),
    request("logging/setLevel", &[META, required("level", LEVEL)], &[META]),
    request(
        "sampling/createMessage",
        &[
            META,
            required(
                "messages",
                Shape::List(&Shape::Object(&[required("role", ROLE), required("content", SAMPLED)])),
            ),
            required("maxTokens", Shape::Integer),
            optional("systemPrompt", TEXT),
            optional("includeContext", Shape::OneOf(&["none", "thisServer", "allServers"])),
            optional("temperature", NUMBER),
            optional("stopSequences", TEXTS),
            optional("modelPreferences", OBJECT),
            optional("metadata", OBJECT),
        ],
        &[
            META,
            required("role", ROLE),
            required("content", SAMPLED),
            required("model", TEXT),
            optional("stopReason", TEXT),
        ],
    ),
    request(
        "roots/list",
        &[META],
        &[
            META,
            required(
                "roots",
                Shape::List(&Shape::Object(&[required("uri", TEXT), optional("name", TEXT), META])),
            ),
        ],
    ),
    MethodShapes {
        name: "elicitation/create",
        params: Shape::Variant(
            "mode",
            row("url", WireFeature::UrlElicitation.revisions(), URL_INPUT),
            FORM_INPUT,
        ),
        result: Shape::Object(&[
            META,
            required("action", Shape::OneOf(&["accept", "decline", "cancel"])),
            optional("content", OBJECT),
        ]),
    },
    request("subscriptions/listen", &[META, required("notifications", FILTER)], &[required("_meta", OBJECT)]),
    request("tasks/get", TASK_ID, TASK_MEMBERS),
    request("tasks/result", TASK_ID, &[META]),
    request("tasks/list", PAGE, &[META, required("tasks", Shape::List(&TASK)), NEXT]),
    request("tasks/cancel", TASK_ID, &[META]),
    request("tasks/update", &[META, required("taskId", TEXT), required("inputResponses", OBJECT)], &[META]),
    notification(
        "notifications/cancelled",
        &[META, required("requestId", Shape::Id), optional("reason", TEXT)],
    ),
    notification(
        "notifications/progress",
        &[
            META,
            required("progressToken", Shape::Id),
            required("progress", NUMBER),
            optional("total", NUMBER),
            optional("message", TEXT).with_feature(WireFeature::ProgressMessages),
        ],
    ),
    notification(
        "notifications/message",
        &[META, required("level", LEVEL), optional("logger", TEXT), required("data", Shape::Any)],
    ),
    notification("notifications/resources/updated", URI),
    notification("notifications/elicitation/complete", &[META, required("elicitationId", TEXT)]),
    notification(
        "notifications/subscriptions/acknowledged",
        &[required("_meta", OBJECT), required("notifications", FILTER)],
    ),
    notification("notifications/tasks/status", TASK_MEMBERS),
    notification("notifications/tasks", TASK_MEMBERS),
    notification("notifications/initialized", &[META]),
    notification("notifications/tools/list_changed", &[META]),
    notification("notifications/resources/list_changed", &[META]),
    notification("notifications/prompts/list_changed", &[META]),
    notification("notifications/roots/list_changed", &[META]),
];
