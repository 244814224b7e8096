#!/bin/sh
# Writes an image of a card from the root /srv/card, in a root of tools: card.sh IMAGE EPOCH
# The partitions are filled without being mounted. A Raspberry Pi looks for its first programs in a FAT partition.
set -eu
image=$1 SOURCE_DATE_EPOCH=$2 MTOOLS_SKIP_CHECK=1
export SOURCE_DATE_EPOCH MTOOLS_SKIP_CHECK
card=/srv/card first=4 boot=128 size=1536 # MiB
identity=5f2d9d6c-1d2e-4c43-9c7f-0d7c5f2a7e3a

# What two builds are compared by: what each file is, and what is in it.
(cd "$card" && find . -printf '%M %U:%G %T@ %p %l\n' && find . -type f -exec sha256sum {} +) | sort >/srv/files.list

truncate --size "${boot}M" /srv/boot
mkfs.vfat --invariant -F 32 -n TEMPLOBOOT -i 7e3a1c05 /srv/boot >/dev/null
(cd "$card/boot/firmware" && find . -mindepth 1 -maxdepth 1 | sort | xargs -I{} mcopy -i /srv/boot -s -m {} ::/)
rm -rf /srv/firmware
mv "$card/boot/firmware" /srv/firmware
mkdir "$card/boot/firmware"
touch --date="@$SOURCE_DATE_EPOCH" "$card/boot/firmware" "$card/boot"
# Later than SOURCE_DATE_EPOCH, which mke2fs writes in place of later times: when a file was last read is left to chance.
find "$card" -exec touch --no-dereference -a {} +
rm -f "$image"
truncate --size "${size}M" "$image"
sfdisk --quiet --no-tell-kernel "$image" <<PARTITIONS
label: dos
label-id: 0x7e3a1c05
start=${first}MiB, size=${boot}MiB, type=c, bootable
start=$((first + boot))MiB, type=83
PARTITIONS
dd if=/srv/boot of="$image" bs=1M seek=$first conv=notrunc,sparse status=none
mke2fs -q -F -t ext4 -L TEMPLOROOT -U "$identity" -E "hash_seed=$identity,offset=$(((first + boot) * 1048576))" \
    -d "$card" "$image" "$((size - first - boot))M"
du --summarize --block-size=1M "$image"
xz --threads=0 "-${XZ:-3}" --keep --force "$image"
