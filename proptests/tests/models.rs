//! Random operations against the models of both machines. `PROPTEST_CASES` sets the number of cases.

use mcp_proto_proptests::http::sessions;
use mcp_proto_proptests::model::{Movement, Violation, client, pair, same, server, strategy};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Returns the configuration of a property test. By default, the test runs `count` cases from a fixed seed. A larger
/// `PROPTEST_CASES` runs more cases from a random seed. A smaller `PROPTEST_CASES` runs fewer cases from the fixed
/// seed.
fn cases(count: u32) -> Config {
    let default = Config { failure_persistence: None, ..Config::default() };
    let asked = std::env::var_os("PROPTEST_CASES").map_or(count, |_| default.cases);
    if asked > count {
        return default;
    }
    Config { cases: asked, rng_seed: RngSeed::Fixed(1), ..default }
}

fn fail(failure: Violation) -> TestCaseError {
    TestCaseError::fail(failure.to_string())
}

fn session_operation() -> impl Strategy<Value = sessions::Operation> {
    use sessions::Operation::{Call, Close, Defer, Delete, Initialize, Listen, Respond, Wait};
    let (session, user) = (any::<u8>(), proptest::sample::select(vec![0, 0, 0, 1, 2]));
    let chosen = (session, user.clone());
    prop_oneof![
        3 => user.prop_map(Initialize),
        3 => chosen.clone().prop_map(|(session, user)| Call(session, user)),
        2 => chosen.clone().prop_map(|(session, user)| Defer(session, user)),
        2 => session.prop_map(Respond),
        2 => chosen.clone().prop_map(|(session, user)| Listen(session, user)),
        1 => session.prop_map(Close),
        1 => chosen.prop_map(|(session, user)| Delete(session, user)),
        2 => session.prop_map(Wait),
    ]
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn sessions_and_exchanges_follow_their_model(
        exchanges in 1..7u8,
        count in 1..5u8,
        operations in proptest::collection::vec(session_operation(), 0..80),
    ) {
        sessions::run(exchanges, count, &operations);
    }

    #[test]
    fn server_follows_its_model(
        setup in strategy::server(),
        movement in strategy::movement(),
        operations in strategy::operations(60, false),
    ) {
        server::run(setup, movement, &operations).map_err(fail)?;
    }

    #[test]
    fn server_does_not_depend_on_how_bytes_move(
        setup in strategy::server(),
        movement in strategy::movement(),
        operations in strategy::operations(60, true),
    ) {
        let first = server::run(setup, Movement::WHOLE, &operations);
        let second = server::run(setup, movement, &operations);
        same(&first.map_err(fail)?, &second.map_err(fail)?).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn client_follows_its_model(
        setup in client::strategy::client(),
        movement in strategy::movement(),
        operations in client::strategy::operations(60, false),
    ) {
        client::run(setup, movement, &operations).map_err(fail)?;
    }

    #[test]
    fn client_does_not_depend_on_how_bytes_move(
        setup in client::strategy::client(),
        movement in strategy::movement(),
        operations in client::strategy::operations(60, true),
    ) {
        let first = client::run(setup, Movement::WHOLE, &operations);
        let second = client::run(setup, movement, &operations);
        same(&first.map_err(fail)?, &second.map_err(fail)?).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn each_modeled_call_ends_once_with_its_own_response(
        setup in strategy::pair(),
        movement in strategy::movement(),
        operations in strategy::joined(60),
    ) {
        pair::run(setup, movement, &operations).map_err(fail)?;
    }
}
