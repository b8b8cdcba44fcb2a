#!/usr/bin/env bash
# Release checklist. Each step is a function; without STEP all of them run in this order.
#
#   .ci/release/check.sh OUT [STEP ...]
#
#   tree      the working tree is clean
#   version   package, CITATION.cff, CHANGELOG.md and README.md have the same version
#   build     source distribution and wheel in OUT/dist, checked by twine
#   pythons   the wheel on each Python that is installed: the same seeds, the same games
#   ranges    the wheel with the lowest and newest versions of its dependencies
#   tours     README's commands, all checks and tests, as .ci/run does
#   digests   OUT/dist/SHA256SUMS, signed with the GnuPG key in SIGN_KEY if it is set
#   recipe    OUT/recipe.yaml: the conda recipe with version and digest
#
# PYTHON names an interpreter with the extra dev (default: .venv/bin/python). Needs the network for packages.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,16p' "$0" | cut -c3-; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
steps=${*:-tree version build pythons ranges tours digests recipe}
python=${PYTHON:-.venv/bin/python}
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' helsinki_env/__init__.py)

tree() {
    test -z "$(git status --porcelain)" || { git status --short; return 1; }
}

version() {
    grep -qx "version: $version" CITATION.cff
    grep -qE "^## \[(Unreleased\] )?$version" CHANGELOG.md
    grep -qF "version = {$version}" README.md
}

build() {
    rm -rf "$out/dist" "$out/tools"
    "$python" -m build --outdir "$out/dist" .
    "$python" -m venv --without-pip "$out/tools"
    "$python" -m pip --python "$out/tools/bin/python" install -q twine
    "$out/tools/bin/twine" check --strict "$out"/dist/*
}

pythons() {
    "$python" -m pytest -m packaging -n 0 tests/test_wheel.py -rs
}

ranges() {
    "$python" -m pytest -m nightly -n 0 tests/test_dependency_ranges.py
}

tours() {
    .ci/run
}

digests() {
    (cd "$out/dist" && sha256sum -- *.tar.gz *.whl > SHA256SUMS && cat SHA256SUMS)
    if [ -n "${SIGN_KEY:-}" ]; then
        gpg --local-user "$SIGN_KEY" --armor --yes --detach-sign "$out/dist/SHA256SUMS"
    else
        echo "not signed: SIGN_KEY is not set"
    fi
}

recipe() {
    local digest
    digest=$(sha256sum "$out"/dist/*.tar.gz | cut -d' ' -f1)
    sed -e "s/VERSION/$version/" -e "s/SHA256/$digest/" .ci/release/recipe.yaml > "$out/recipe.yaml"
}

for step in $steps; do
    case $step in
        tree | version | build | pythons | ranges | tours | digests | recipe) ;;
        *) echo "STEP: found $step, expected one of the steps in $0" >&2; exit 2 ;;
    esac
done
for step in $steps; do
    printf '\n== %s\n' "$step"
    set +e  # Bash ignores set -e in a command that || follows
    (set -e; "$step")
    code=$?
    set -e
    [ $code = 0 ] || { printf '== FAILED: %s\n' "$step" >&2; exit 1; }
done
printf '\n== %s passed: %s\nBy hand: tag v%s, upload %s/dist, then send recipe.yaml and the texts of .ci/release/listings.md.\n' \
    "$version" "$steps" "$version" "$out"
