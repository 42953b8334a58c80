"""run_wasm.py MODULE: runs the module under wasmtime; forwards its output, and a trap is a failure."""

import sys

import wasmtime

store = wasmtime.Store()
module = wasmtime.Module.from_file(store.engine, sys.argv[1])
linker = wasmtime.Linker(store.engine)


def read(text: int, length: int) -> None:
    sys.stdout.write(instance.exports(store)["memory"].read(store, text, text + length).decode())


linker.define_func("host", "print", wasmtime.FuncType([wasmtime.ValType.i32()] * 2, []), read)
instance = linker.instantiate(store, module)
try:
    instance.exports(store)["main"](store)
except wasmtime.Trap as e:
    sys.exit(f"{e}")
