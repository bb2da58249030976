//! Types that contain themselves, with the same name in one schema.

use mcp_proto::ToolArguments;

mod folders {
    #[derive(mcp_proto::ToolArguments)]
    pub struct Tree {
        children: Vec<Tree>,
        menus: Vec<crate::menus::Tree>,
    }
}

mod menus {
    #[derive(mcp_proto::ToolArguments)]
    pub struct Tree {
        children: Vec<Tree>,
    }
}

#[derive(ToolArguments)]
struct Both {
    menu: menus::Tree,
    folder: folders::Tree,
}

fn main() {
    assert!(Both::INPUT_SCHEMA.is_empty());
    assert!(folders::Tree::INPUT_SCHEMA.is_empty());
}
