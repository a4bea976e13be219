"""Prints the bill of materials of a wheel, as CycloneDX JSON: `sbom.py WHEEL`.

Listed are the wheel, what it bundles, and the packages that it depends on, with the versions of this environment. A
shared library in the wheel that is not known here is an error.
"""

import hashlib
import json
import re
import sys
import zipfile
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath

sys.path.insert(0, str(Path(__file__).parent))
from notices import located

OWN = re.compile(r"tapeflow/(_native\..*\.so|_onednn\.so)")
# Bundled libraries, by patterns of their places: component, the package that it comes in, licence. What
# cmake/manylinux.sh adds is in no package; the version lies beside its licence.
BUNDLED = {
    r"tapeflow/lib/libdnnl\.so\.3": ("onednn", "onednn-cpu-gomp", "Apache-2.0"),
    r"tapeflow\.libs/libgomp-\w+\.so\.1": ("libgomp", None, "GPL-3.0-or-later WITH GCC-exception-3.1"),
}
# What is linked into our own libraries: component, licence.
STATIC = [("nanobind", "BSD-3-Clause"), ("robin-map", "MIT")]


def component(name: str, number: str, licence: str | None = None, **more) -> dict:
    form = {"expression": licence} if licence and " " in licence else {"license": {"id": licence}}
    licences = {"licenses": [form]} if licence else {}
    return {"type": "library", "bom-ref": f"{name}@{number}", "name": name, "version": number, **licences, **more}


def version_of(part: str) -> str:
    """The version of what is linked statically; nanobind's copy of robin-map has its own, in a header."""
    if part != "robin-map":
        return version(part)
    header = located("nanobind", "tsl/robin_growth_policy.h").read_text()
    return ".".join(re.findall(r"define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def package(requirement: str) -> dict | None:
    """The component of a requirement, None for one that an extra or another platform has."""
    if "extra ==" in requirement:
        return None
    name = re.match(r"[\w.-]+", requirement)[0]
    try:
        number = version(name)
    except PackageNotFoundError:
        raise SystemExit(f"{name} is not installed: its version is not known") from None
    return component(name, number, purl=f"pkg:pypi/{name.lower().replace('_', '-')}@{number}")


def bill(wheel: str) -> dict:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [n for n in names if n.endswith(".dist-info/METADATA")]
        fields = Parser().parsestr(archive.read(metadata).decode())
        parts = []
        for name in names:
            if not re.search(r"\.so(\.|$)|\.dylib$|\.dll$|\.pyd$", name) or OWN.fullmatch(name):
                continue
            known = [each for pattern, each in BUNDLED.items() if re.fullmatch(pattern, name)]
            if not known:
                raise SystemExit(f"{name} is bundled, but not known to the bill of materials")
            [(part, source, licence)] = known
            content = archive.read(name)
            number = version(source) if source else archive.read(f"tapeflow/licenses/{part}/VERSION").decode().strip()
            digest = {"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}
            place = {"evidence": {"occurrences": [{"location": name}]}}
            parts.append(component(part, number, licence, hashes=[digest], **place))
        parts += [component(part, version_of(part), licence) for part, licence in STATIC]
        for part in parts:
            if not any(n.startswith(f"tapeflow/licenses/{part['name']}/") for n in names):
                raise SystemExit(f"the wheel bundles {part['name']} without its licence")
    needed = [package(r) for r in fields.get_all("Requires-Dist", [])]
    own = component(fields["Name"], fields["Version"], fields["License-Expression"])
    everything = parts + [p for p in needed if p]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own, "properties": [{"name": "wheel", "value": PurePath(wheel).name}]},
        "components": everything,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [p["bom-ref"] for p in everything]}],
    }


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1]), indent=2))
