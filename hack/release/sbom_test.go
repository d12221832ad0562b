package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// cycloneDX is the schema of CycloneDX documents, which the module that writes them brings along.
func cycloneDX(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	folder, err := output(t.Context(), ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	load := func(name string) *jsonschema.Schema {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		schema := &jsonschema.Schema{}
		if err := json.Unmarshal(text, schema); err != nil {
			t.Fatal(err)
		}
		return schema
	}
	named := strings.NewReplacer("jsf-0.82.schema.json", "jsf-0.82.schemax.json") // so it lies in the module
	resolved, err := load("bom-" + sbomVersion.String() + ".schema.json").Resolve(&jsonschema.ResolveOptions{
		Loader: func(uri *url.URL) (*jsonschema.Schema, error) { return load(named.Replace(path.Base(uri.Path))), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestTheSBOMIsCycloneDX(t *testing.T) {
	schema := cycloneDX(t)
	r, p, _ := sample(t)
	modules := []dependency{
		{path: "example.com/two", version: "v1.0.0", sum: "h1:" + strings.Repeat("A", 43) + "=", licence: "Apache-2.0 AND MIT"},
		{path: standardLibrary, version: "1.26.1", licence: "BSD-3-Clause"},
	}
	read := func() map[string]any {
		t.Helper()
		name := filepath.Join(r.dist, "sbom.json")
		if err := r.writeSBOM(name, p, modules); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		document := map[string]any{}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		return document
	}
	document := read()
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
	for i, want := range []string{`{"expression":"Apache-2.0 AND MIT"}`, `{"license":{"id":"BSD-3-Clause"}}`} {
		got, err := json.Marshal(document["components"].([]any)[i].(map[string]any)["licenses"].([]any)[0])
		if err != nil || string(got) != want {
			t.Errorf("a licence is %s, want %s: %v", got, want, err)
		}
	}
	modules[1].licence = "My-Own"
	if err := schema.Validate(read()); err == nil {
		t.Error("a licence that SPDX does not know is taken")
	}
}

func TestALicenceIsRecognizedByItsText(t *testing.T) {
	mit := `MIT License

Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what  string
		files map[string]string
		want  string
		wrong string
	}{
		{"one", map[string]string{"LICENSE": mit, "PATENTS": "none", "inner/LICENSE": string(apache)}, "MIT", ""},
		{"two", map[string]string{"LICENSE-MIT.txt": mit, "LICENSE-APACHE": string(apache)}, "Apache-2.0 AND MIT", ""},
		{"a text for a part", map[string]string{"LICENSE.md": mit, "LICENSE-LOGO (c)": "Draw it as it is."}, "LicenseRef-LICENSE-LOGO-c- AND MIT", ""},
		{"its own", map[string]string{"LICENSE": "Ask me first, and then pay."}, "", "0 % of LICENSE is a known licence"},
		{"none at its top", map[string]string{"README": "x", "inner/LICENSE": mit}, "", "has no licence"},
	} {
		m := dependency{path: "example.com/x", version: "v1.0.0", dir: t.TempDir()}
		for name, text := range row.files {
			file := filepath.Join(m.dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := licence(m)
		if got != row.want || (err != nil) != (row.wrong != "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: %q, %v", row.what, got, err)
		}
	}
}
