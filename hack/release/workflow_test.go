package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The workflow publishes, signs and attests all that a release writes.
func TestTheWorkflowPublishesTheRelease(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	workflow := string(text)
	r := &release{version: "$GITHUB_REF_NAME"}
	written := []string{"SHA256SUMS", "*", chartName + "-$number.oci.tar"}
	for _, p := range programs {
		written = append(written, r.archiveName(program{image: "$image"}), p.sbomName())
		for _, want := range []string{"sbom-path: dist/" + p.sbomName(), "subject-digest: \"${{ steps.publish.outputs." + p.image + " }}\""} {
			if !strings.Contains(workflow, want) {
				t.Errorf("the workflow lacks %s", want)
			}
		}
	}
	var images []string
	for _, p := range programs {
		images = append(images, p.image)
	}
	if want := "for image in " + strings.Join(images, " ") + "; do"; !strings.Contains(workflow, want) {
		t.Errorf("the workflow lacks %q", want)
	}
	named := regexp.MustCompile(`\bdist/([^\s",}]+)`).FindAllStringSubmatch(workflow, -1)
	for _, name := range named {
		// The signature of the checksums is written beside them.
		if !slices.Contains(written, name[1]) && name[1] != "SHA256SUMS.sigstore.json" {
			t.Errorf("the workflow names dist/%s, which no release has: %v", name[1], written)
		}
	}
	if len(named) < 8 {
		t.Errorf("only %d files are named", len(named))
	}
}
