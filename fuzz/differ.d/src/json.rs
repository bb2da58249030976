//! JSON values that preserve member order, duplicates and the text of numbers.

#[derive(Debug, Clone)]
pub enum Node {
    Leaf(String),
    Array(Vec<Node>),
    /// Names are raw text with quotes.
    Object(Vec<(String, Node)>),
}

impl Node {
    pub fn parse(bytes: &[u8]) -> Option<Node> {
        let text = str::from_utf8(bytes).ok()?;
        let mut parser = Parser { text, at: 0 };
        let node = parser.value(0)?;
        parser.space();
        (parser.at == text.len()).then_some(node)
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Node::Leaf(text) => out.push_str(text),
            Node::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Node::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        self.write(&mut text);
        text.into_bytes()
    }

    pub fn has(&self, name: &str) -> bool {
        matches!(self, Node::Object(members) if members.iter().any(|(it, _)| it.trim_matches('"') == name))
    }

    /// Counts the values, including `self`.
    pub fn count(&self) -> usize {
        1 + match self {
            Node::Leaf(_) => 0,
            Node::Array(items) => items.iter().map(Node::count).sum::<usize>(),
            Node::Object(members) => members.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    /// Finds the value with this number in depth-first order, in which `self` has the number 0.
    pub fn find(&mut self, number: usize) -> Option<&mut Node> {
        let mut number = number;
        self.find_at(&mut number)
    }

    fn find_at(&mut self, number: &mut usize) -> Option<&mut Node> {
        if *number == 0 {
            return Some(self);
        }
        *number -= 1;
        match self {
            Node::Leaf(_) => None,
            Node::Array(items) => items.iter_mut().find_map(|item| item.find_at(number)),
            Node::Object(members) => members.iter_mut().find_map(|(_, value)| value.find_at(number)),
        }
    }

    /// Calls `change` with the name, the depth in objects and the value of every member. Members of `self` have
    /// this depth.
    pub fn members(&mut self, depth: usize, change: &mut dyn FnMut(&str, usize, &mut Node)) {
        match self {
            Node::Leaf(_) => {}
            Node::Array(items) => items.iter_mut().for_each(|item| item.members(depth, change)),
            Node::Object(members) => {
                for (name, value) in members {
                    change(name.trim_matches('"'), depth, value);
                    value.members(depth + 1, change);
                }
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn eat(&mut self, byte: char) -> bool {
        self.space();
        let is_next = self.text[self.at..].starts_with(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > 150 {
            return None;
        }
        if self.eat('[') {
            let mut items = Vec::new();
            if self.eat(']') {
                return Some(Node::Array(items));
            }
            loop {
                items.push(self.value(depth + 1)?);
                if self.eat(']') {
                    return Some(Node::Array(items));
                }
                self.eat(',').then_some(())?;
            }
        }
        if self.eat('{') {
            let mut members = Vec::new();
            if self.eat('}') {
                return Some(Node::Object(members));
            }
            loop {
                self.space();
                let name = self.string()?;
                self.eat(':').then_some(())?;
                members.push((name, self.value(depth + 1)?));
                if self.eat('}') {
                    return Some(Node::Object(members));
                }
                self.eat(',').then_some(())?;
            }
        }
        if self.text[self.at..].starts_with('"') {
            return self.string().map(Node::Leaf);
        }
        let rest = &self.text[self.at..];
        let length =
            rest.find([',', ']', '}', ' ', '\t', '\r', '\n', '"', ':', '[', '{']).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| Node::Leaf(rest[..length].to_owned()))
    }

    fn string(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        if bytes.first() != Some(&b'"') {
            return None;
        }
        let mut at = 1;
        while *bytes.get(at)? != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.at += at + 1;
        Some(rest[..=at].to_owned())
    }
}
