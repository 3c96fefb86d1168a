#!/bin/sh
# compile_cached.sh ROOT CCACHE COMPILER ARGUMENTS: a compiler launcher that makes
# ccache hit in every clone and work tree of the project at ROOT.
#
# Clang writes absolute paths into a precompiled header, so that its bytes differ
# from folder to folder. ccache therefore reads a digest of what the header was
# made from, which this script writes beside it, and the header itself is cached
# for its own folder only. Without a digest ccache reads the header.
root=$1 ccache=$2
shift 2
# What ccache's manual asks for with precompiled headers.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
case " $* " in
*" -emit-pch "*) ;;
*)
  # The one path that ccache does not make relative to CCACHE_BASEDIR.
  for argument; do
    shift
    case $argument in
    "$PWD"/*cmake_pch.hxx) set -- "$@" "${argument#"$PWD"/}" ;;
    *) set -- "$@" "$argument" ;;
    esac
  done
  export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
  exec "$ccache" "$@"
  ;;
esac

previous= header= dependencies=
for argument; do
  case $previous in
  -o) header=$argument ;;
  -MF) dependencies=$argument ;;
  esac
  previous=$argument
done
begin=$header.begin digest=$header.sum
rm -f "$digest"
: >"$begin"
trap 'rm -f "$begin"' EXIT
"$ccache" "$@" || exit

# Runs a command with the names of all files that were included, in their order.
with_included() {
  sed -e 's/^[^:]*: *//' -e 's/ *\\$//' -e 's/^ *//' -e 's/\([^\\]\) /\1\n/g' "$dependencies" |
    sed -e 's/\\ / /g' -e 's/\\#/#/g' -e 's/\$\$/$/g' -e '/^$/d' | xargs -d '\n' "$@"
}

# A digest of other bytes than the compiler has read would make ccache return wrong
# objects, later too.
changed=$(with_included sh -c 'find "$@" -maxdepth 0 -cnewer "$0"' "$begin") || exit 0
[ -z "$changed" ] || exit 0
{
  # The flags, without the folder.
  printf '%s\n' "$@" | sed "s|$root||g"
  with_included cat
} | sha256sum >"$digest.new" && mv "$digest.new" "$digest"
