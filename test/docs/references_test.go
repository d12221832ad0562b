package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// reference is how code names a rule: docs/design/FILE.md, "Heading".
	reference = regexp.MustCompile(`docs/design/([a-z-]+\.md)(?:, "([^"]+)")?`)
	// lineOfComment is the end of a line of a comment, and how the next one begins.
	lineOfComment = regexp.MustCompile(`\n\s*(//|#) ?`)
	// foreign is a reference to a document that is not in the repository.
	foreign = regexp.MustCompile(`decisions sections? \d|\(design, "`)
)

func TestEveryReferenceToTheDesignLeadsToAHeading(t *testing.T) {
	headings := map[string][]string{}
	seen := 0
	for _, file := range sources(t) {
		text := lineOfComment.ReplaceAllString(read(t, file), " ")
		if found := foreign.FindString(text); found != "" {
			t.Errorf("%s refers to %q, which is not in the repository", file, found)
		}
		for _, match := range reference.FindAllStringSubmatch(text, -1) {
			page, heading := match[1], match[2]
			if headings[page] == nil {
				headings[page] = headingsOf(read(t, "docs/design/"+page))
			}
			if seen++; !slices.Contains(headings[page], heading) {
				t.Errorf("%s refers to %s, which has the headings %q", file, match[0], headings[page])
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d references were found", seen)
	}
}

// headingsOf are the headings of a page.
func headingsOf(page string) []string {
	var headings []string
	for line := range strings.Lines(page) {
		if level, heading, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Trim(level, "#") == "" {
			headings = append(headings, heading)
		}
	}
	return headings
}

// link is a link to a file, to a heading of one, or to a heading of the same page.
var link = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`)

func TestEveryLinkOfADocumentLeadsSomewhere(t *testing.T) {
	for _, page := range append(filesOf(t, ".md"), "llms.txt") {
		for _, match := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, anchor := filepath.Join(filepath.Dir(page), match[1]), match[2]
			if match[1] == "" {
				target = page
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s has a link to %s, which does not exist", page, match[1])
				continue
			}
			if anchor != "" && filepath.Ext(target) == ".md" && !slices.Contains(anchorsOf(read(t, target)), anchor) {
				t.Errorf("%s has a link to #%s of %s, which has no such heading", page, anchor, target)
			}
		}
	}
}

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	noWord = regexp.MustCompile(`[^\w\- ]`)
)

// anchorsOf returns the names that a page's headings have in links.
func anchorsOf(page string) []string {
	anchors := headingsOf(fenced.ReplaceAllString(page, ""))
	for i, heading := range anchors {
		anchors[i] = strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
	}
	return anchors
}

// sources are the files whose comments refer to documents, but for this package.
func sources(t *testing.T) []string {
	return slices.DeleteFunc(filesOf(t, ".go", ".yaml", ".yml"), func(file string) bool { return strings.HasPrefix(file, "test/docs/") })
}

// filesOf are the repository's files with one of the extensions.
func filesOf(t *testing.T, extensions ...string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == ".local" || name == "bin" || name == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(name)):
			relative, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(relative))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
