package packaging

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is one instruction of the Dockerfile, with its continuation lines.
type instruction struct{ stage, word, rest string }

func dockerfile(t *testing.T) []instruction {
	t.Helper()
	text, err := os.ReadFile(root + "/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var instructions []instruction
	stage := ""
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", " "), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			stage = rest[strings.LastIndex(rest, " ")+1:]
		}
		instructions = append(instructions, instruction{stage, word, strings.Join(strings.Fields(rest), " ")})
	}
	return instructions
}

// copied is what the Dockerfile copies from the project.
func copied(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, i := range dockerfile(t) {
		if i.word == "COPY" && !strings.HasPrefix(i.rest, "--from=") {
			fields := strings.Fields(i.rest)
			paths = append(paths, fields[:len(fields)-1]...)
		}
	}
	return paths
}

func TestDockerfileCopiesWhatIsThere(t *testing.T) {
	ignore, err := os.ReadFile(root + "/.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	sent := strings.Split(string(ignore), "\n")
	for _, path := range copied(t) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
		if !slices.Contains(sent, "!"+strings.TrimSuffix(path, "/")) {
			t.Errorf(".dockerignore keeps %s from the build", path)
		}
	}
}

// Each target's go build line is run as it stands, but for -trimpath, with which the build cache would be of no use; and
// what it makes must be static, as the base image has no libraries.
func TestDockerfileBuildsStaticPrograms(t *testing.T) {
	module := strings.TrimSpace(output(t, "go", "list", "-m"))
	for name, main := range map[string]string{"manager": "./cmd/manager", "server": "./cmd/server", "mcp-admin": "./cmd/mcp-admin"} {
		t.Run(name, func(t *testing.T) {
			program := "/mcp-admin-" + name
			if name == "mcp-admin" {
				program = "/" + name
			}
			line := ""
			for _, i := range dockerfile(t) {
				if i.word == "RUN" && i.stage == "build-"+name {
					line = i.rest
				}
			}
			match := regexp.MustCompile(`\bgo build .* -o (\S+) (\S+)$`).FindStringSubmatch(line)
			if match == nil || match[1] != "/out"+program || match[2] != main {
				t.Fatalf("the stage build-%s does not build /out%s from %s: %q", name, program, main, line)
			}
			built := filepath.Join(t.TempDir(), "program")
			build := exec.Command("bash", "-c", strings.NewReplacer(match[1], built, " -trimpath ", " ").Replace(match[0]))
			build.Dir = root
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			file, err := elf.Open(built)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if libraries, err := file.ImportedLibraries(); err == nil && len(libraries) > 0 {
				t.Errorf("it needs shared libraries: %v", libraries)
			}

			// Every package of the module that it is made of is copied into the build.
			for _, pkg := range strings.Fields(output(t, "go", "list", "-deps", main)) {
				path, ours := strings.CutPrefix(pkg, module+"/")
				inFolder := func(folder string) bool { return strings.HasPrefix(path+"/", folder) }
				if ours && !slices.ContainsFunc(copied(t), inFolder) {
					t.Errorf("package %s is not copied into the build", path)
				}
			}
			for word, want := range map[string]string{
				"COPY":       "--from=build-" + name + " /out" + program + " " + program,
				"ENTRYPOINT": `["` + program + `"]`,
			} {
				if !slices.Contains(dockerfile(t), instruction{name, word, want}) {
					t.Errorf("the stage %s lacks %s %s", name, word, want)
				}
			}
		})
	}
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(out)
}
