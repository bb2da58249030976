//! Schemas of tuples and addresses, and of types of `alloc`, `std` and `heapless`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::schema::{Node, Schema};

macro_rules! tuples {
    ($([$($element:ident)*])*) => {$(
        impl<$($element: Schema),*> Schema for ($($element,)*) {
            const NODE: Node = Node::Tuple(&[$(&$element::NODE),*]);
        }
    )*};
}

tuples!([A B] [A B C] [A B C D]);

impl Schema for IpAddr {
    const NODE: Node = str::NODE;
}

impl Schema for Ipv4Addr {
    const NODE: Node = Node::Format("ipv4", &str::NODE);
}

impl Schema for Ipv6Addr {
    const NODE: Node = Node::Format("ipv6", &str::NODE);
}

impl Schema for SocketAddr {
    const NODE: Node = str::NODE;
}

#[cfg(feature = "heapless")]
mod heapless_types {
    use crate::schema::{Node, Schema};
    use heapless::index_map::IndexMap;
    use heapless::linear_map::LinearMap;
    use heapless::{String, Vec};

    /// The schema permits at most `N` characters, because a longer string has more than `N` bytes.
    impl<const N: usize> Schema for String<N> {
        const NODE: Node = Node::string(0, Some(N));
    }

    impl<T: Schema, const N: usize> Schema for Vec<T, N> {
        const NODE: Node = Node::array(&T::NODE, 0, Some(N));
    }

    impl<K: Schema, V: Schema, const N: usize> Schema for LinearMap<K, V, N> {
        const NODE: Node = Node::map(&K::NODE, &V::NODE, Some(N));
    }

    impl<K: Schema, V: Schema, S, const N: usize> Schema for IndexMap<K, V, S, N> {
        const NODE: Node = Node::map(&K::NODE, &V::NODE, Some(N));
    }
}

#[cfg(feature = "alloc")]
mod alloc_types {
    use crate::schema::{Node, Schema};
    use alloc::borrow::{Cow, ToOwned};
    use alloc::boxed::Box;
    use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
    use alloc::rc::Rc;
    use alloc::string::String;
    use alloc::vec::Vec;

    impl<K: Schema, V: Schema> Schema for BTreeMap<K, V> {
        const NODE: Node = Node::map(&K::NODE, &V::NODE, None);
    }

    impl<T: Schema> Schema for BTreeSet<T> {
        const NODE: Node = Node::set(&T::NODE);
    }

    impl Schema for String {
        const NODE: Node = str::NODE;
    }

    impl<T: Schema> Schema for Vec<T> {
        const NODE: Node = <[T]>::NODE;
    }

    impl<T: Schema> Schema for VecDeque<T> {
        const NODE: Node = <[T]>::NODE;
    }

    impl<T: Schema + ToOwned + ?Sized> Schema for Cow<'_, T> {
        const NODE: Node = T::NODE;
    }

    macro_rules! pointers {
        ($($pointer:ident)*) => {$(
            impl<T: Schema> Schema for $pointer<[T]> {
                const NODE: Node = <[T]>::NODE;
            }

            impl Schema for $pointer<str> {
                const NODE: Node = str::NODE;
            }

            impl<T: Schema> Schema for $pointer<T> {
                const NODE: Node = T::NODE;

                fn absent() -> Option<Self> {
                    T::absent().map($pointer::new)
                }
            }
        )*};
    }

    pointers!(Box Rc);
    #[cfg(target_has_atomic = "ptr")]
    use alloc::sync::Arc;
    #[cfg(target_has_atomic = "ptr")]
    pointers!(Arc);
}

#[cfg(feature = "std")]
mod std_types {
    use crate::schema::{Node, Schema};
    use std::collections::{HashMap, HashSet};
    use std::path::{Path, PathBuf};

    impl<K: Schema, V: Schema, S> Schema for HashMap<K, V, S> {
        const NODE: Node = Node::map(&K::NODE, &V::NODE, None);
    }

    impl<T: Schema, S> Schema for HashSet<T, S> {
        const NODE: Node = Node::set(&T::NODE);
    }

    impl Schema for Path {
        const NODE: Node = str::NODE;
    }

    impl Schema for PathBuf {
        const NODE: Node = str::NODE;
    }
}
