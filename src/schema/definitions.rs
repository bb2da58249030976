//! Definitions of recursive types: the members of `$defs`.

// The code runs only at compile time, so an invalid index or an overflow is a compile error.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::protocol::objects::const_text::is_same_text;
use crate::schema::node::{Field, Node};

/// A type that contains itself.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name of the type, which is the name of the definition.
    pub name: &'static str,
    /// The module of the type.
    pub module: &'static str,
    /// The description of the type's values.
    pub node: &'static Node,
}

impl Definition {
    /// Checks that a type with the same name is in the same module. A type of another module is a different type.
    ///
    /// # Panics
    /// The types are in different modules.
    const fn check_module(&self, other: &Definition) {
        assert!(
            is_same_text(self.module, other.module),
            "two types that contain themselves have the same name"
        );
    }
}

/// The maximum number of recursive types in one schema, without the type of the schema itself.
const MOST: usize = 16;

/// The recursive types of a schema.
#[derive(Clone, Copy)]
pub(super) struct Definitions {
    /// The type of the schema itself, if it is recursive.
    root: Option<&'static Definition>,
    /// The other recursive types.
    found: [Option<&'static Definition>; MOST],
    count: usize,
}

impl Definitions {
    /// Collects the recursive types of a schema.
    ///
    /// # Panics
    /// Two recursive types of different modules have the same name, or the schema has too many recursive types. The
    /// panic is a compile error at the derived type.
    pub(super) const fn collect(root: &Node) -> Definitions {
        let mut definitions = Definitions { root: None, found: [None; MOST], count: 0 };
        match root {
            Node::Recursive(definition) => {
                definitions.root = Some(definition);
                definitions.visit(definition.node);
            }
            node => definitions.visit(node),
        }
        definitions
    }

    /// Returns the recursive types without the root. Each element is `Some`.
    pub(super) const fn found(&self) -> &[Option<&'static Definition>] {
        self.found.split_at(self.count).0
    }

    /// Returns whether a name is the name of the root. An unknown name is a compile error.
    #[expect(clippy::panic, reason = "the panic occurs only at compile time")]
    pub(super) const fn is_root(&self, name: &str) -> bool {
        if let Some(root) = self.root
            && is_same_text(root.name, name)
        {
            return true;
        }
        if self.position(name).is_none() {
            panic!("a struct that contains itself cannot be the content of a variant: put it into a field");
        }
        false
    }

    const fn position(&self, name: &str) -> Option<usize> {
        let mut index = 0;
        while index < self.count {
            if let Some(known) = self.found[index]
                && is_same_text(known.name, name)
            {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    const fn add(&mut self, definition: &'static Definition) {
        match self.position(definition.name) {
            Some(index) => {
                if let Some(known) = self.found[index] {
                    known.check_module(definition);
                }
            }
            None => {
                assert!(self.count < MOST, "too many types that contain themselves");
                self.found[self.count] = Some(definition);
                self.count += 1;
                self.visit(definition.node);
            }
        }
    }

    const fn visit(&mut self, node: &Node) {
        match node {
            Node::Optional(node)
            | Node::Described(_, node)
            | Node::Header(_, node)
            | Node::Format(_, node)
            | Node::Array { items: node, .. }
            | Node::Map { values: node, .. } => self.visit(node),
            Node::Tuple(elements) => {
                let mut rest = *elements;
                while let [element, tail @ ..] = rest {
                    self.visit(element);
                    rest = tail;
                }
            }
            Node::Object(fields) => self.visit_fields(fields.fields),
            Node::OneOf(one_of) => {
                let mut rest = one_of.variants;
                while let [variant, tail @ ..] = rest {
                    self.visit_fields(variant.fields.fields);
                    rest = tail;
                }
            }
            Node::Recursive(definition) => match self.root {
                Some(root) if is_same_text(root.name, definition.name) => root.check_module(definition),
                _ => self.add(definition),
            },
            _ => {}
        }
    }

    const fn visit_fields(&mut self, fields: &[Field]) {
        let mut rest = fields;
        while let [field, tail @ ..] = rest {
            self.visit(field.node);
            rest = tail;
        }
    }
}
