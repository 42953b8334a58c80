//! For build scripts: the position of each tensor in a file of weights, so that a program needs no
//! JSON.
use std::{collections::BTreeMap, env, fs, path::PathBuf};

/// Writes the path of the file and the positions of each layer's weight, bias and, if quantised,
/// scales to places.rs.
pub fn write(path: &str) {
    let file = fs::read(path).unwrap();
    let data = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[8..data]).unwrap();
    let mut layers = BTreeMap::new(); // by number
    for (name, tensor) in header.as_object().unwrap() {
        let dtype = tensor["dtype"].as_str().unwrap();
        let (layer, name) = name.split_once('.').unwrap();
        let offset = |k: usize| data + tensor["data_offsets"][k].as_u64().unwrap() as usize;
        let place = format!(
            "Place {{ start: {}, end: {}, shape: &{}, dtype: DType::{dtype} }}",
            offset(0),
            offset(1),
            tensor["shape"]
        );
        let parts: &mut BTreeMap<usize, String> = layers.entry(layer.parse::<usize>().unwrap()).or_default();
        let part = ["weight", "bias", "weight.scales"].iter().position(|known| *known == name).unwrap();
        parts.insert(part, place);
    }
    let count = layers.values().next().unwrap().len();
    let layers: Vec<_> =
        layers.into_values().map(|parts| format!("[{}]", parts.into_values().collect::<Vec<_>>().join(", "))).collect();
    let code = format!(
        "static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!({:?}));\nconst LAYERS: &[[Place; {count}]] = &[{}];\n",
        fs::canonicalize(path).unwrap(),
        layers.join(", ")
    );
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("places.rs"), code).unwrap();
    println!("cargo:rerun-if-changed={path}");
}
