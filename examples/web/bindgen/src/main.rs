//! `bindgen MODULE FOLDER`: writes the module for a web page, and its JavaScript, to the folder.
//! Like wasm-bindgen's command line tool, but without its other parts (a web server, among others),
//! so it builds in a fraction of the time.
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else { anyhow::bail!("bindgen MODULE FOLDER") };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).web(true)?.omit_default_module_path(false).typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true).generate(folder)
}
