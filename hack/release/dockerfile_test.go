package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/hack/rootfs"
)

// stages are the Dockerfile's instructions by the stage that they are in.
func stages(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, part := range strings.Split("\n"+strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM ")[1:] {
		first, rest, _ := strings.Cut(part, "\n")
		found[first[strings.LastIndex(first, " ")+1:]] = "FROM " + first + "\n" + strings.Join(strings.Fields(rest), " ")
	}
	return found
}

// Docker's images have the same files, user and entry point as the images that are packed here.
func TestTheDockerfileMakesTheSameImages(t *testing.T) {
	all := stages(t)
	has := func(stage string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(all[stage], part) {
				t.Errorf("the stage %s lacks %q:\n%s", stage, part, all[stage])
			}
		}
	}
	has("build", "ENV CGO_ENABLED=0 ")
	has("root", "go run ./hack/rootfs/write /out/root")
	has("base", "FROM scratch AS base", "COPY --from=root /out/root/ /", "USER "+rootfs.User, "WORKDIR /")
	r := &release{version: "$VERSION", revision: "$REVISION"}
	for _, p := range programs {
		has("build-"+p.image, "go build -trimpath ",
			`-ldflags "-s -w -X `+module+`/contract/version.version=$VERSION" -o /out/`+p.name+" ./cmd/"+p.folder)
	}
	has("build-"+withDuckDB.image, "CGO_ENABLED=1", "go -C cmd/duckdb build -trimpath -tags netgo,osusergo ",
		`-ldflags "-s -w -linkmode external -extldflags \"-static\" -X `+module+`/contract/version.version=$VERSION" -o /out/`+withDuckDB.name+" ./mcp-admin-server")
	for _, p := range append(slices.Clone(programs), withDuckDB) {
		has(p.image, "FROM base AS "+p.image, "COPY --from=build-"+p.image+" /out/"+p.name+" /"+p.name, `ENTRYPOINT ["/`+p.name+`"]`)
		if copies := strings.Count(all[p.image], "COPY "); copies != 1 {
			t.Errorf("the stage %s copies %d times, want the program alone", p.image, copies)
		}
		for name, value := range r.labels(p) {
			if name == "org.opencontainers.image.created" {
				value = "$CREATED"
			}
			if line := name + `="` + value + `"`; !strings.Contains(all[p.image]+all["base"], line) {
				t.Errorf("the image %s lacks the label %s", p.image, line)
			}
		}
	}
}
