//! Decodes every frame in the folder with ruzstd and compares the contents.

use std::{env, fs, io::Read, path::Path};

fn main() {
    let folder = env::args().nth(1).expect("usage: frames DIR");
    let read = |name: &str| fs::read(Path::new(&folder).join(name)).expect(name);
    let (frames, contents) = (read("frames"), read("contents"));
    let index = String::from_utf8(read("index")).expect("index");
    let (mut at, mut from, mut number) = (0, 0, 0);
    for line in index.lines() {
        let mut sizes = line.split(' ').map(|s| s.parse::<usize>().expect("a size"));
        let (size, length) = (sizes.next().unwrap(), sizes.next().unwrap());
        let mut found = Vec::with_capacity(length);
        ruzstd::decoding::StreamingDecoder::new(&frames[at..at + size])
            .and_then(|mut decoder| decoder.read_to_end(&mut found).map_err(|e| panic!("frame {number}: {e}")))
            .unwrap_or_else(|e| panic!("frame {number}: {e}"));
        assert!(found == contents[from..from + length], "frame {number}, {length} bytes, is not what it contains");
        at += size;
        from += length;
        number += 1;
    }
    println!("{number} frames");
}
