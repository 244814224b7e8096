"""A virtual machine with Debian's kernel and the kernel's GPIO simulator, in QEMU without KVM.

No Debian kernel ships `gpio-sim`: it is built from Debian's own source, 5 seconds, and kept in `build/kernel`. Any
machine can run it; the figures are an emulator's, not a Raspberry Pi's. Nothing is installed.
"""

from __future__ import annotations

import lzma
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build/kernel"
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "gcc-12": "gcc-12",
    "make": "make",
    "bc": "bc",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
    "apt-get": "apt",
}
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes --no-install-recommends"
DISK_MIB = 1500
_MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "9p", "9pnet_virtio")
SIMULATED_LINES = ("configfs", "gpio-sim")
NS_AN_INSTRUCTION = 2
"""On a steady machine: 500 million instructions a second. A power of two."""


def missing(needed: dict[str, str]) -> str:
    """Return what to do where programs are missing, by their packages; nothing where all are there."""
    packages = [package for program, package in needed.items() if shutil.which(program) is None]
    if not packages:
        return ""
    by_hand = f"install with 'sudo apt-get install {' '.join(packages)}'"
    return f"The kernel's tests need {', '.join(packages)}: {by_hand}, then try again."


def kernel() -> Path:
    """Return the folder with Debian's current kernel and its simulator, built where it is not there yet."""
    release = _release()
    made = BUILD / release
    if not (made / "initrd.cpio").exists():
        print(f"building gpio-sim for Linux {release} ...", flush=True)
        _build(release, made)
    return made


def _release() -> str:
    """Return the release of Debian's current kernel."""
    shown = _output("apt-cache", "depends", "linux-image-amd64")
    if (found := re.search(r"Depends: linux-image-(\d\S+)", shown)) is None:
        raise SystemExit(f"apt-cache knows no linux-image-amd64 (Debian 12, amd64, is expected): {shown!r}")
    return found[1]


def _build(release: str, made: Path) -> None:
    """Unpack a kernel, its modules and its headers, and build the simulator against them."""
    series = ".".join(release.split(".")[:2])
    headers, common = f"linux-headers-{release}", f"linux-headers-{release.removesuffix('-amd64')}-common"
    tools = (f"linux-kbuild-{series}", "linux-compiler-gcc-12-x86", "busybox-static")
    source = f"linux-source-{series}"
    shutil.rmtree(made, ignore_errors=True)
    debs, root, module = made / "debs", made / "root", made / "module"
    for folder in (debs, root, module):
        folder.mkdir(parents=True)
    _run("apt-get", "-q", "download", f"linux-image-{release}", headers, common, *tools, source, cwd=debs)
    for deb in debs.iterdir():
        if not deb.name.startswith(source):
            _run("dpkg-deb", "-x", str(deb), str(root))
    (tarball,) = debs.glob(f"{source}_*.deb")
    _run("dpkg-deb", "-x", str(tarball), str(made / "source"))
    wanted = ("drivers/gpio/gpio-sim.c", "drivers/gpio/gpiolib.h", "kernel/irq/irq_sim.c", "scripts/extract-vmlinux")
    packed = made / f"source/usr/src/{source}.tar.xz"
    inside = [f"{source}/{name}" for name in wanted]
    _run("tar", "-xJf", str(packed), "-C", str(module), "--strip-components=1", *inside)
    shutil.rmtree(made / "source")
    makefile = root / f"usr/src/{headers}/Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src/", f"{root}/usr/src/"))
    shutil.copy(module / wanted[0], module / "gpio-sim-main.c")
    shutil.copy(module / wanted[1], module)
    # `irq_to_desc` is not exported to modules.
    irq = (module / wanted[2]).read_text()
    irq = irq.replace("handle_simple_irq(irq_to_desc(irqnum));", "generic_handle_irq(irqnum);")
    (module / "irq_sim.c").write_text(irq)
    (module / "Kbuild").write_text("obj-m := gpio-sim.o\ngpio-sim-y := gpio-sim-main.o irq_sim.o\n")
    _run("make", "-s", "-C", str(makefile.parent), f"M={module}", "modules")
    vmlinux = subprocess.run(
        ["sh", module / "scripts/extract-vmlinux", root / f"boot/vmlinuz-{release}"], capture_output=True, check=True
    )
    (made / "vmlinux").write_bytes(vmlinux.stdout)
    (made / "initrd.cpio").touch()


def make_disk(root: Path, disk: Path) -> None:
    """Write the files of a root into a disk's image."""
    (root / "host").mkdir(exist_ok=True)
    making = disk.with_suffix(".new")
    _run("mke2fs", "-q", "-t", "ext4", "-F", "-d", str(root), str(making), f"{DISK_MIB}M")
    making.replace(disk)


def pack(made: Path, init: Path, simulators: Iterable[str] = SIMULATED_LINES) -> Path:
    """Write the first file system, with busybox, the modules in their order and `init`; returns its file.

    `simulators` are the modules beside those that every machine needs.
    """
    initrd = made / f"{init.name}.cpio"
    modules = {_name(path): path for path in (made / "root/lib/modules").rglob("*.ko*")}
    modules["gpio_sim"] = made / "module/gpio-sim.ko"
    ordered: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in ordered or name not in modules:  # what is not there is built in
            return
        path = modules[name]
        content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        for key in (rb"\0depends=([^\0]*)", rb"\0softdep=pre: ([^\0]*)"):
            if (found := re.search(key, content)) is not None:
                for each in re.split(r"[, ]", found[1].decode()):
                    add(each.replace("-", "_"))
        ordered[name] = content

    for name in (*_MODULES, *simulators):
        add(name.replace("-", "_"))
    archive = bytearray()
    for folder in ("bin", "dev", "host", "modules", "proc", "sys"):
        archive += _entry(folder, stat.S_IFDIR | 0o755)
    archive += _entry("bin/busybox", stat.S_IFREG | 0o755, (made / "root/bin/busybox").read_bytes())
    archive += _entry("init", stat.S_IFREG | 0o755, init.read_bytes())
    archive += _entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    for number, (name, content) in enumerate(ordered.items()):
        archive += _entry(f"modules/{number:02}-{name}.ko", stat.S_IFREG | 0o644, content)
    initrd.write_bytes(archive + _entry("TRAILER!!!", 0))
    return initrd


def _name(module: Path) -> str:
    return module.name.partition(".ko")[0].replace("-", "_")


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """Return one file of a cpio archive, in the form that the kernel reads."""
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
    head += bytes(-len(head) % 4)
    return head + content + bytes(-len(content) % 4)


def command(
    made: Path,
    initrd: Path,
    words: str,
    *,
    writable: Path | None = None,
    disk: Path | None = None,
    steady: bool = False,
) -> list[str]:
    """Return the command line of a machine, whose first serial port is this program's standard output.

    It sees this machine's files, read-only, as the 9p file system `host`, one folder that it may write as `out`, and
    a disk's image. `words` are added to the kernel's command line.

    A `steady` machine's clock counts its instructions, and while it has nothing to do its next timer is due at once:
    whatever else this machine does, nothing stands still in there. How long it reads or writes a file of this machine
    means nothing then.
    """
    shares = ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
    if writable is not None:
        shares += ["-virtfs", f"local,path={writable},mount_tag=out,security_model=none,multidevs=remap"]
    if disk is not None:
        shares += ["-drive", f"file={disk},if=virtio,format=raw"]
    if steady:
        words = f"sysctl.kernel.hung_task_timeout_secs=0 {words}"
        shares += ["-icount", f"shift={NS_AN_INSTRUCTION.bit_length() - 1},sleep=off"]
    return [
        "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "1024",
        "-smp", "1",  # with two virtual processors a level is read late, and edges are lost
        "-nographic", "-nodefaults", "-serial", "stdio", "-nic", "none", "-no-reboot",
        "-kernel", str(made / "vmlinux"), "-initrd", str(initrd),
        "-append", f"console=ttyS0 quiet panic=-1 nokaslr no_timer_check mitigations=off {words}",
        *shares,
    ]  # fmt: skip


def lines_of(running: subprocess.Popen[str]) -> Iterable[str]:
    """Yield what a machine prints, without its firmware's first words and its kernel's last."""
    assert running.stdout is not None
    for line in running.stdout:
        if "SeaBIOS" not in line and "reboot: Power down" not in line:
            yield line.removeprefix("Booting from ROM..")


def start(command_line: list[str]) -> subprocess.Popen[str]:
    """Start a machine; what it prints is text of its `stdout`."""
    return subprocess.Popen(
        command_line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    )


def run(command_line: list[str]) -> int:
    """Run a machine to its end and print what it prints; returns the exit code of the program in it."""
    code = 1
    with start(command_line) as running:
        for line in lines_of(running):
            if found := re.match(r"guest-exit-code (\d+)", line):
                code = int(found[1])
            else:
                print(line, end="", flush=True)
    return code


def run_guest(disk: Path, guest: str, modules: Iterable[str], folder: Path, more: Iterable[str] = ()) -> int:
    """Boot a copy of a disk in a folder, run the named program of ours there under systemd, and return how it ended.

    `more` are further words of QEMU's command line.
    """
    made = kernel()
    out, copy = folder / "out", folder / "disk.img"
    out.mkdir()
    shutil.copy(HERE / guest, out / "guest.py")
    _run("cp", "--sparse=always", "--reflink=auto", str(disk), str(copy))
    initrd = pack(made, HERE / "systemd_init", modules)
    return run([*command(made, initrd, "", writable=out, disk=copy), *more])


def _run(*words: str, cwd: Path | None = None) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
