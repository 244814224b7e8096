#!/bin/sh
# Installs Debian for arm64 and our package into /srv/card, in a root of tools where programs for arm64 run:
#     system.sh PACKAGE EPOCH [EXTRA_PACKAGE ...]
# apt and dpkg are the tools' own, so that only the packages' scripts run through QEMU; what those would do at length
# and with the same result anywhere (bytecode, certificates) is done natively at the end.
set -eu
package=$1 SOURCE_DATE_EPOCH=$2
shift 2
card=/srv/card
export SOURCE_DATE_EPOCH APT_CONFIG=/srv/apt.conf DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 SYSTEMD_OFFLINE=1

# What a card needs beside what our package depends on.
system="apt ca-certificates dbus e2fsprogs fdisk initramfs-tools init iproute2 kmod netbase openssh-server sudo systemd-sysv
    systemd-timesyncd tzdata udev zstd"
board="firmware-brcm80211 linux-image-arm64 raspi-firmware"
network="avahi-daemon dnsmasq-base libnss-mdns network-manager openssl rfkill wireless-regdb wpasupplicant"
by_hand="py3compile update-ca-certificates update-initramfs"

step() { echo "$(cut -d' ' -f1 /proc/uptime) $*"; }

mkdir -p "$card"/etc/apt/trusted.gpg.d "$card"/etc/dpkg/dpkg.cfg.d "$card"/usr/sbin "$card"/usr/local/sbin \
    "$card"/var/lib/apt/lists/partial "$card"/var/cache/apt/archives/partial "$card"/var/lib/dpkg/info \
    "$card"/var/lib/dpkg/updates "$card"/var/log/apt "$card"/dev "$card"/proc "$card"/sys
for each in bin lib sbin; do
    mkdir -p "$card/usr/$each"
    ln -s "usr/$each" "$card/$each"
done
touch "$card"/var/lib/dpkg/status "$card"/var/lib/dpkg/available
echo arm64 >"$card"/var/lib/dpkg/arch
cp -a /srv/files/. "$card"
# dpkg reads what it leaves out from its own system.
cp /srv/files/etc/dpkg/dpkg.cfg.d/templo-mayor /etc/dpkg/dpkg.cfg.d
for each in /dev /proc /sys; do mount --rbind "$each" "$card$each"; done
printf '#!/bin/sh\nexit 101\n' >"$card"/usr/sbin/policy-rc.d
chmod 755 "$card"/usr/sbin/policy-rc.d
for each in $by_hand; do
    printf '#!/bin/sh\n' >"$card/usr/local/sbin/$each"
    chmod 755 "$card/usr/local/sbin/$each"
done

sed 's/ main$/ main non-free-firmware/' /etc/apt/sources.list >"$card"/etc/apt/sources.list
{
    cat /etc/apt/apt.conf.d/*
    cat <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir "$card";
Dir::Bin::dpkg "/usr/bin/dpkg";
Dir::Etc::TrustedParts "/etc/apt/trusted.gpg.d";
Dir::State::Status "$card/var/lib/dpkg/status";
DPkg::Options { "--root=$card"; "--force-unsafe-io"; "--force-confold"; };
DPkg::Path "/usr/local/sbin:/usr/sbin:/usr/bin";
DPkg::Use-Pty "false";
CONF
} >"$APT_CONFIG"

step "the archive's lists"
apt-get --quiet --quiet update
essential=$(apt-cache dumpavail | awk -v RS= '/(^|\n)Essential: yes/ { print $2 }' | sort -u)
step "the essential packages"
apt-get --quiet --quiet --yes install --download-only $essential
for each in "$card"/var/cache/apt/archives/*.deb; do dpkg-deb --extract "$each" "$card"; done
rm -rf "$card"/usr/share/doc "$card"/usr/share/info "$card"/usr/share/locale "$card"/usr/share/man
[ -e "$card"/usr/bin/awk ] || ln -s mawk "$card"/usr/bin/awk
cp "$card"/usr/share/base-passwd/passwd.master "$card"/etc/passwd
cp "$card"/usr/share/base-passwd/group.master "$card"/etc/group
dpkg --root="$card" --force-depends --force-unsafe-io --unpack "$card"/var/cache/apt/archives/*.deb
dpkg --root="$card" --force-depends --force-unsafe-io --force-confold --configure -a
step "all others"
apt-get --quiet --quiet --yes install $system $board $network "$package" "$@"

step "the certificates"
unshare --mount --propagation unchanged sh -euc "
    mount --bind $card/usr/share/ca-certificates /usr/share/ca-certificates
    mount --bind $card/etc /etc
    update-ca-certificates --fresh >/dev/null"
step "the first file system"
for each in $by_hand; do rm "$card/usr/local/sbin/$each"; done
chroot "$card" update-initramfs -c -k all
step "the bytecode"
# Good for its source's time: what is made under SOURCE_DATE_EPOCH has every program read all its source at each start.
python3 -m compileall -q -f --invalidation-mode timestamp -s "$card" -p / "$card"/usr/lib/python3* \
    "$card"/usr/share/templo-mayor

step "what a card makes for itself"
chroot "$card" useradd --create-home --shell /bin/bash --groups sudo temple
echo 'temple ALL=(ALL) NOPASSWD: ALL' >"$card"/etc/sudoers.d/temple
chmod 440 "$card"/etc/sudoers.d/temple
chroot "$card" systemctl enable grow-card.service systemd-timesyncd.service
# Debian's mosquitto would wait a minute for a router that is not there.
chroot "$card" systemctl disable NetworkManager-wait-online.service
chroot "$card" templo-mayor prepare-image --yes
rm -rf "$card"/usr/sbin/policy-rc.d "$card"/etc/ssh/ssh_host_* "$card"/var/lib/systemd/random-seed \
    "$card"/var/lib/dbus/machine-id "$card"/var/lib/apt/lists/* "$card"/var/cache/apt/* "$card"/var/cache/debconf/*-old \
    "$card"/var/cache/ldconfig/aux-cache "$card"/var/lib/dpkg/*-old "$card"/etc/*- "$card"/tmp/* "$card"/etc/resolv.conf
find "$card"/var/log -type f -delete
# Empty: what says "uninitialized" would bring the presets of all units, and two programs for one network.
: >"$card"/etc/machine-id
# As new as /usr, so that a first start does not run ldconfig and others again.
touch "$card"/etc/.updated "$card"/var/.updated
# Not where this machine takes Debian from, but where everybody does.
rm "$card"/etc/apt/sources.list
cp /usr/share/doc/apt/examples/debian.sources "$card"/etc/apt/sources.list.d/
sed -i "s/^\([^:]*:[^:]*\):[0-9]*:/\1:$((SOURCE_DATE_EPOCH / 86400)):/" "$card"/etc/shadow
cp /srv/templo-mayor.example.toml "$card"/boot/firmware/
for each in /dev /proc /sys; do umount --lazy "$card$each"; done
find "$card" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
step "done"
