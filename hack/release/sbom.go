package main

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// sbomVersion is one version before the newest, which not every reader knows yet.
const sbomVersion = cdx.SpecVersion1_6

func (p program) sbomName() string { return p.name + ".cdx.json" }

// writeSBOM writes which modules a program is made of, as a CycloneDX document.
func (r *release) writeSBOM(name string, p program, modules []dependency) error {
	return create(name, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(r.sbom(p, modules), sbomVersion)
	})
}

func (r *release) sbom(p program, modules []dependency) *cdx.BOM {
	self := cdx.Component{
		BOMRef: packageURL(module, r.version) + "#cmd/" + p.folder, Type: cdx.ComponentTypeApplication, Name: p.name, Version: r.version,
		PackageURL: packageURL(module, r.version) + "#cmd/" + p.folder, Description: p.description,
		Licenses: licenceChoice("Apache-2.0"),
	}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c := component(m)
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	// The same release has the same number, so that its bytes are the same, too.
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(self.BOMRef+" "+r.revision)).String()
	bom.Metadata = &cdx.Metadata{Timestamp: r.created.Format(time.RFC3339), Component: &self}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	return bom
}

func component(m dependency) cdx.Component {
	c := cdx.Component{
		BOMRef: packageURL(m.path, m.version), Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version,
		PackageURL: packageURL(m.path, m.version), Scope: cdx.ScopeRequired, Licenses: licenceChoice(m.licence),
	}
	if m.path == standardLibrary { // the names by which vulnerability databases know it
		c.Name, c.PackageURL, c.CPE = "stdlib", packageURL("stdlib", m.version), "cpe:2.3:a:golang:go:"+m.version+":*:*:*:*:*:*:*"
	}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}

// licenceChoice is one licence by its name, or an expression of several.
func licenceChoice(expression string) *cdx.Licenses {
	if strings.Contains(expression, " ") {
		return &cdx.Licenses{{Expression: expression}}
	}
	return &cdx.Licenses{{License: &cdx.License{ID: expression}}}
}

func packageURL(path, version string) string { return "pkg:golang/" + path + "@" + version }
