//! Runs one workload once in a given size, for counting its instructions. Without arguments, lists the workloads.

use workloads::growth::ALL;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        return ALL.iter().for_each(|(name, what, _)| println!("{name}\t{what}"));
    };
    let size: usize = arguments.next().and_then(|it| it.parse().ok()).expect("growth WORKLOAD SIZE");
    let (_, _, run) = ALL.iter().find(|(known, _, _)| *known == name).expect("a known workload");
    run(size);
}
