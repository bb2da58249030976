//! Client capabilities and client info in each revision, and buffer sizes.

use mcp_proto::client::{ClientConfig, Connect};
use mcp_proto::{Action, Client, ClientCapabilities as C, ConfigError, Millis, Revision, Revisions};

/// Returns the first message of a client.
fn first(info: &ClientConfig<'_>) -> String {
    let (mut rx, mut tx) = ([0; 256], [0; 1024]);
    let mut client = Client::new(info, &mut rx, &mut tx).unwrap();
    match client.poll(Millis(0)) {
        Action::Io(io) => String::from_utf8(io.split().0.bytes().to_vec()).unwrap(),
        _ => panic!("the first poll returns output"),
    }
}

/// Returns `capabilities` and `clientInfo` of the first message.
fn said(info: ClientConfig<'_>, revision: Revision) -> (String, String) {
    let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
    let message = first(&info.connect(connect).revisions(Revisions::only(revision)));
    let value: serde_json::Value = serde_json::from_str(&message).unwrap();
    let params = &value["params"];
    let (capabilities, info) = match connect {
        Connect::Handshake => (&params["capabilities"], &params["clientInfo"]),
        _ => (
            &params["_meta"]["io.modelcontextprotocol/clientCapabilities"],
            &params["_meta"]["io.modelcontextprotocol/clientInfo"],
        ),
    };
    (capabilities.to_string(), info.to_string())
}

#[test]
fn capabilities_are_declared_as_each_revision_has_them() {
    let everything = [C::ROOTS_LIST_CHANGED, C::SAMPLING_CONTEXT, C::ELICITATION_FORM, C::ELICITATION_URL]
        .into_iter()
        .fold(C::SAMPLING_TOOLS, C::with);
    let form = C::ELICITATION_FORM;
    let url = C::ELICITATION_URL;
    let cases: &[(C, [&str; 5])] = &[
        (C::NONE, ["{}"; 5]),
        (
            everything,
            [
                r#"{"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"elicitation":{},"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}"#,
                r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"context":{},"tools":{}}}"#,
            ],
        ),
        (
            form,
            [
                "{}",
                "{}",
                r#"{"elicitation":{}}"#,
                r#"{"elicitation":{"form":{}}}"#,
                r#"{"elicitation":{"form":{}}}"#,
            ],
        ),
        // A member `elicitation` without modes would declare forms.
        (url, ["{}", "{}", "{}", r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"url":{}}}"#]),
        (C::ROOTS, [r#"{"roots":{}}"#; 5]),
        (C::SAMPLING, [r#"{"sampling":{}}"#; 5]),
    ];
    for (declared, expected) in cases {
        for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
            let info = ClientConfig::new("c", "1").capabilities(*declared);
            assert_eq!(said(info, revision).0, *expected, "{revision} {declared:?}");
        }
    }
}

#[test]
fn extensions_and_experiments_are_sent_unchanged() {
    let info = ClientConfig::new("c", "1")
        .extensions(&[("com.example/x", r#"{"a": [1]}"#)])
        .experimental(&[("y", "{}"), ("z", " {\n} ")]);
    for revision in Revision::ALL {
        let expected = match revision {
            Revision::V2026_07_28 => {
                r#"{"experimental":{"y":{},"z":{}},"extensions":{"com.example/x":{"a":[1]}}}"#
            }
            _ => r#"{"experimental":{"y":{},"z":{}}}"#,
        };
        assert_eq!(said(info, revision).0, expected, "{revision}");
    }
    assert_eq!(first(&info).lines().count(), 1);
}

#[test]
fn non_object_settings_are_a_config_error() {
    let refused = |info: ClientConfig<'static>| {
        Client::new(&info, &mut [0; 256], &mut [0; 1024]).expect_err("`new` returns an error")
    };
    let info = ClientConfig::new("c", "1").extensions(&[("a/b", "{}"), ("a/c", "{")]);
    assert!(matches!(refused(info), ConfigError::InvalidJson { entry: 1, .. }));
    let info = ClientConfig::new("c", "1").extensions(&[("a/b", "{}")]).experimental(&[("x", "true")]);
    assert!(matches!(refused(info), ConfigError::NotAnObject { entry: 1 }));
}

#[test]
fn client_info_has_the_members_of_its_revision() {
    let info = ClientConfig::new("c", "1").title("T").description("D").website("https://example.com/");
    for revision in Revision::ALL {
        let expected = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => r#"{"name":"c","version":"1"}"#,
            Revision::V2025_06_18 => r#"{"name":"c","title":"T","version":"1"}"#,
            _ => {
                r#"{"description":"D","name":"c","title":"T","version":"1","websiteUrl":"https://example.com/"}"#
            }
        };
        assert_eq!(said(info, revision).1, expected, "{revision}");
    }
}

/// The client connects with the smallest buffer for the declared capabilities.
#[test]
fn declared_capabilities_count_for_the_buffer_size() {
    let info = ClientConfig::new("c", "1")
        .experimental(&[("x", r#"{"text":"a long one, a long one, a long one"}"#)]);
    let plain = ClientConfig::new("c", "1");
    let needed = |info: &ClientConfig<'_>| match Client::new(info, &mut [0; 256], &mut []).err() {
        Some(ConfigError::TxTooSmall { needed }) => needed,
        other => panic!("{other:?}"),
    };
    assert!(needed(&info) > needed(&plain));
    let (mut rx, mut tx) = ([0; 256], vec![0; needed(&info)]);
    let mut client = Client::new(&info, &mut rx, &mut tx[..]).unwrap();
    match client.poll(Millis(0)) {
        Action::Io(io) => assert!(!io.split().0.bytes().is_empty()),
        _ => panic!("the first poll returns output"),
    }
}

#[test]
fn smallest_buffer_connects_and_one_byte_less_is_refused() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        let info = ClientConfig::new("a name of some length", "1.2.3").title("title").connect(connect);
        let fits = |rx: usize, tx: usize| {
            let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
            Client::new(&info, &mut rx[..], &mut tx[..]).map(|_| ()).err()
        };
        let Some(ConfigError::TxTooSmall { needed: tx }) = fits(1024, 0) else { panic!() };
        let Some(ConfigError::RxTooSmall { needed: rx }) = fits(0, 1024) else { panic!() };
        assert_eq!(fits(rx, tx), None);
        assert_eq!(fits(rx - 1, tx), Some(ConfigError::RxTooSmall { needed: rx }));
        assert_eq!(fits(rx, tx - 1), Some(ConfigError::TxTooSmall { needed: tx }));
    }
}
