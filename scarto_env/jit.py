"""Compile the engine's kernels once, keep them on disk, and never run a stale one.

Numba's disk cache looks only at the file that holds a function: an edit in another file that the
function calls, or a changed table, would run the old rule.  ``@kernel`` therefore caches in a folder
named by a digest of every source that can change what a kernel does.

With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python, for the debugger and for coverage.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE: Final = Path(__file__).parent
_ENGINE: Final = ("cards.py", "jit.py", "rules.py", "state.py", "play.py", "observation.py", "loops.py")

JIT_DISABLED: Final = bool(numba.config.DISABLE_JIT)


def kernel(function: Function) -> Function:
    """Compile ``function`` at its first call, without the interpreter lock, cached across processes.

    A kernel allocates nothing, so Numba's reference counts are switched off: their locked instructions
    took a third of a step's time.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: Function) -> Function:
    """Compile like ``kernel`` a function that is set into each place that calls it, with what is constant there."""
    return _compiled(function, _nrt=False, forceinline=True)


def allocating_kernel(function: Function) -> Function:
    """Compile like ``kernel`` a function that makes arrays of its own or takes them from an address."""
    return _compiled(function)


def parallel_kernel(function: Function) -> Function:
    """Compile like ``kernel`` a function whose ``prange`` loops run on ``numba.get_num_threads()`` cores."""
    return _compiled(function, parallel=True)


def _compiled(function: Function, **options: bool) -> Function:
    if JIT_DISABLED:
        # The generator's arithmetic wraps modulo 2**64, which NumPy's scalars report as overflow.
        return functools.wraps(function)(np.errstate(over="ignore")(function))  # type: ignore[return-value]
    with _caching_in(_cache_folder(Path(function.__code__.co_filename))):
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)  # type: ignore[no-any-return]


_launch = threading.Lock()
_has_launched = False
_is_orphan = False
"""Whether this process was forked after a launch."""


def _forget_launch() -> None:
    """Give a forked process a lock of its own: the parent's may be held by a thread that was not forked."""
    global _launch, _is_orphan
    _launch, _is_orphan = threading.Lock(), _has_launched


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_launch)


def run_parallel(threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a parallel kernel on ``threads`` cores and return what it returns.

    One launch at a time: some of Numba's threading layers take no second one.  In a process forked after a
    launch the layer's threads are gone and it would end the process, so there the kernel's Python runs instead.
    """
    global _has_launched  # noqa: PLW0603 - one layer a process
    if JIT_DISABLED:
        return function(*arguments)
    with _launch:
        if _is_orphan:
            return function.py_func(*arguments)  # type: ignore[attr-defined]
        _has_launched = True
        if threads >= numba.config.NUMBA_NUM_THREADS:
            # All there are: what Numba takes by itself, unless somebody has told it to take fewer.  To ask would
            # take half as long as the launch.
            return function(*arguments)
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            return function(*arguments)
        finally:
            numba.set_num_threads(before)


def as_argument(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same memory as kernels take it.

    Numba recognises a plain array's type about 15 times faster than a subclass's (0.1 against 1.8
    microseconds a call); plain Python needs the record array to read fields as attributes.
    """
    return records.view(np.recarray if JIT_DISABLED else np.ndarray)


@functools.cache
def _cache_folder(source: Path) -> Path:
    """Return a writable folder named by what the kernels of ``source`` may call.

    Engine kernels depend on the engine; others also on the bots, whose kernels they may call, and their own folder.
    """
    sources = [_PACKAGE / name for name in _ENGINE]
    if source not in sources:
        sources += sorted({*source.parent.glob("*.py"), *(_PACKAGE / "bots").glob("*.py")})
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    for parent in (_PACKAGE / "__pycache__", _user_cache() / "scarto"):
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    # Fresh and private: compiled code is loaded from it, so no other user may have put files there.
    return Path(tempfile.mkdtemp(prefix="scarto-kernels-"))


def _user_cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return Path(root) if root else Path(os.path.expanduser("~")) / ".cache"


@contextlib.contextmanager
def _caching_in(folder: Path) -> Iterator[None]:
    """Point Numba's cache at ``folder`` while one function is decorated, leaving other users' functions alone."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def popcount(word: int) -> int:
    """Return the number of bits set in a 64-bit word."""
    return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()


def lowest_bit(word: int) -> int:
    """Return the index of the lowest bit set in a non-zero word."""
    return (int(word) & -int(word)).bit_length() - 1


def spread(word: int, out: np.ndarray[Any, Any], offset: int) -> None:
    """Write the low 32 bits of ``word`` as 32 bytes of 0 or 1 to ``out`` from ``offset`` on.

    ``out`` is a contiguous int8 vector; the caller answers for the 32 bytes.
    """
    out[offset : offset + 32] = [(int(word) >> bit) & 1 for bit in range(32)]


def put_word(word: int, out: np.ndarray[Any, Any], offset: int) -> None:
    """Write ``word`` as 8 bytes, lowest first, to a contiguous int8 vector; the caller answers for the bytes."""
    bytes_ = (int(word) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")
    out[offset : offset + 8] = np.frombuffer(bytes_, np.int8)


def copy(source: np.ndarray[Any, Any], source_offset: int, out: np.ndarray[Any, Any], offset: int) -> None:
    """Copy 32 bytes between contiguous int8 vectors; the caller answers for the bytes on both sides."""
    out[offset : offset + 32] = source[source_offset : source_offset + 32]


def stream(source: np.ndarray[Any, Any], source_offset: int, out: np.ndarray[Any, Any], offset: int) -> None:
    """Copy 64 bytes to a line of memory, past the caches, between contiguous int8 vectors.

    The caller answers for the bytes on both sides, and that a line begins there.
    """
    out[offset : offset + 64] = source[source_offset : source_offset + 64]


def array_at(address: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Return the array that lies at an address, as kernels take it; the caller answers for the memory.

    Numba recognises the type of every argument at every call, which takes three times longer for five arrays than for
    an address.
    """
    array: np.ndarray[Any, Any] = numba.carray(ctypes.c_void_p(int(address)), shape, dtype)
    return array.view(np.recarray) if array.dtype.names else array


def prefetch(records: np.ndarray[Any, Any], index: int, offset: int) -> None:
    """Ask for the cache line at byte ``offset`` of an entry along the first axis; beyond the end it does nothing.

    Python has no such request.
    """


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _lowest_bit(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@intrinsic
def _spread(typing_context: Any, word: Any, out: Any, offset: Any) -> Any:
    """Lower ``spread`` to a vector of 32 bits widened to bytes: two or three instructions with vector units."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, out_value, offset = args
        array = context.make_array(signature.args[1])(context, builder, out_value)
        target = cgutils.gep_inbounds(builder, array.data, offset)
        bits = builder.bitcast(builder.trunc(word, ir.IntType(32)), ir.VectorType(ir.IntType(1), 32))
        row = ir.VectorType(ir.IntType(8), 32)
        builder.store(builder.zext(bits, row), builder.bitcast(target, row.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, out, types.int64), codegen


def _moved(context: Any, builder: Any, signature: Any, args: Any, size: int, align: int) -> Any:
    """Load bytes of one vector, store them to another and return the store; ``args`` are those of ``copy``."""
    row = ir.VectorType(ir.IntType(8), size).as_pointer()
    places = []
    for array_type, array_value, place in (
        (signature.args[0], *args[:2]),
        (signature.args[2], *args[2:]),
    ):
        data = context.make_array(array_type)(context, builder, array_value).data
        places.append(builder.bitcast(cgutils.gep_inbounds(builder, data, place), row))
    return builder.store(builder.load(places[0], align=1), places[1], align=align)


@intrinsic
def _copy(typing_context: Any, source: Any, source_offset: Any, out: Any, offset: Any) -> Any:
    """Lower ``copy`` to one load and one store, where a loop would test every index."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _moved(context, builder, signature, args, 32, 1)
        return context.get_dummy_value()

    return types.void(source, types.int64, out, types.int64), codegen


@intrinsic
def _stream(typing_context: Any, source: Any, source_offset: Any, out: Any, offset: Any) -> Any:
    """Lower ``stream`` to stores that the processor collects and sends to memory as a whole line."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        store = _moved(context, builder, signature, args, 64, 64)
        store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
        return context.get_dummy_value()

    return types.void(source, types.int64, out, types.int64), codegen


@intrinsic
def _put_word(typing_context: Any, word: Any, out: Any, offset: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, out_value, offset = args
        data = context.make_array(signature.args[1])(context, builder, out_value).data
        target = builder.bitcast(cgutils.gep_inbounds(builder, data, offset), word.type.as_pointer())
        builder.store(word, target, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, out, types.int64), codegen


@intrinsic
def _prefetch(typing_context: Any, records: Any, index: Any, offset: Any) -> Any:
    """Lower ``prefetch`` to one instruction, which never faults: to write, into every cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        stride = builder.extract_value(array.strides, 0)
        place = builder.add(builder.mul(args[1], stride), args[2])
        line = cgutils.pointer_add(builder, array.data, place, cgutils.voidptr_t)
        number = ir.IntType(32)
        request = ir.FunctionType(ir.VoidType(), [line.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, request, "llvm.prefetch.p0i8")
        builder.call(function, [line, *(ir.Constant(number, choice) for choice in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(records, types.int64, types.int64), codegen


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), codegen


@overload(array_at, strict=False)
def _overload_array_at(address: Any, shape: Any, dtype: Any) -> Any:
    return lambda address, shape, dtype: numba.carray(_pointer(address), shape, dtype)


@overload(prefetch, inline="always", strict=False)
def _overload_prefetch(records: Any, index: Any, offset: Any) -> Any:
    return lambda records, index, offset: _prefetch(records, index, offset)


@overload(put_word, inline="always", strict=False)
def _overload_put_word(word: Any, out: Any, offset: Any) -> Any:
    return lambda word, out, offset: _put_word(word, out, offset)


@overload(popcount, inline="always", strict=False)
def _overload_popcount(word: Any) -> Any:
    return lambda word: _popcount(word)


@overload(lowest_bit, inline="always", strict=False)
def _overload_lowest_bit(word: Any) -> Any:
    return lambda word: _lowest_bit(word)


@overload(spread, inline="always", strict=False)
def _overload_spread(word: Any, out: Any, offset: Any) -> Any:
    return lambda word, out, offset: _spread(word, out, offset)


@overload(stream, inline="always", strict=False)
def _overload_stream(source: Any, source_offset: Any, out: Any, offset: Any) -> Any:
    return lambda source, source_offset, out, offset: _stream(source, source_offset, out, offset)


@overload(copy, inline="always", strict=False)
def _overload_copy(source: Any, source_offset: Any, out: Any, offset: Any) -> Any:
    return lambda source, source_offset, out, offset: _copy(source, source_offset, out, offset)
