package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A release is one version of one commit.
type release struct {
	// root is the checkout, source what is released of it: a clone of the commit, or the checkout if it has changes. dist is
	// where the release is written.
	root, source, dist string
	// version has a "v". It is an image's tag; number is a chart's version.
	version string
	// revision is the commit, with "-dirty" if the checkout has changes; "" without git.
	revision string
	// The images are for these platforms.
	platforms []target
	// withC reports whether the programs are made with C.
	withC bool
	// created is the commit's date, or SOURCE_DATE_EPOCH. Nothing in a release tells when it was built.
	created time.Time
}

// versionForm is a version of Semantic Versioning that can be an image's tag: without "+".
var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func newRelease(ctx context.Context, root, version string) (*release, error) {
	if !versionForm.MatchString(version) {
		return nil, fmt.Errorf("VERSION is %q: write a version such as v1.2.3 or v1.2.3-rc.1", version)
	}
	r := &release{root: root, version: version, platforms: imageTargets}
	date := ""
	// The files may only lie in a folder of another repository.
	if prefix, err := output(ctx, root, "git", "rev-parse", "--show-prefix"); err == nil && prefix == "" {
		if date, err = r.describe(ctx); err != nil {
			return nil, err
		}
	}
	seconds, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), date), 10, 64)
	if err != nil {
		return nil, errors.New("no commit tells the release's date: set SOURCE_DATE_EPOCH to its seconds since 1970")
	}
	r.created = time.Unix(seconds, 0).UTC()
	return r, nil
}

// describe asks git for the revision, and returns its date.
func (r *release) describe(ctx context.Context) (date string, err error) {
	if r.revision, err = output(ctx, r.root, "git", "rev-parse", "HEAD"); err != nil {
		return "", err
	}
	changes, err := output(ctx, r.root, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return "", err
	}
	if changes != "" {
		if !strings.HasSuffix(r.version, dirty) {
			return "", errors.New("the checkout has changes that are not committed: commit them, or leave VERSION out")
		}
		r.revision += dirty
	}
	return output(ctx, r.root, "git", "log", "-1", "--format=%ct")
}

// dirty ends the version and the revision of a checkout with changes.
const dirty = "-dirty"

// clean reports whether git knows all that is released.
func (r *release) clean() bool { return r.revision != "" && !strings.HasSuffix(r.revision, dirty) }

// takeSource clones the commit into a folder, so that nothing else gets into the release, and tags it there: Go records
// the tag and the revision in the programs. Of a worktree, or of a checkout with changes, it would record other things.
func (r *release) takeSource(ctx context.Context, folder string) error {
	r.source = r.root
	if !r.clean() {
		return nil
	}
	for _, step := range [][]string{
		{"clone", "--quiet", "--local", "--no-checkout", "--no-tags", r.root, folder},
		{"-C", folder, "-c", "advice.detachedHead=false", "checkout", "--quiet", r.revision},
		{"-C", folder, "-c", "tag.gpgSign=false", "tag", r.version},
	} {
		if _, err := output(ctx, r.root, "git", step...); err != nil {
			return err
		}
	}
	r.source = folder
	return nil
}

// number is the version without its "v".
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// A part of a release can be written alone.
type part string

const (
	everything part = ""
	imagesOnly part = "images"
	chartOnly  part = "chart"
	duckDBOnly part = "duckdb"
)

// write builds and packs, reads everything again, and returns what it did. work is a folder for what is not released.
func (r *release) write(ctx context.Context, work string, only part) (string, error) {
	writers := map[part]func(context.Context, string) (string, error){
		everything: r.writeAll, imagesOnly: r.writeImagesOnly, chartOnly: r.writeChartOnly, duckDBOnly: r.writeDuckDBOnly,
	}
	writer, ok := writers[only]
	if !ok {
		return "", fmt.Errorf("-only is %q: write %s, %s or %s, or leave it out", only, imagesOnly, chartOnly, duckDBOnly)
	}
	if only != imagesOnly && len(r.platforms) < len(imageTargets) {
		return "", errors.New("-platforms is for -only images: a release has images for all platforms")
	}
	if err := r.takeSource(ctx, filepath.Join(work, "source")); err != nil {
		return "", err
	}
	summary, err := writer(ctx, work)
	if err != nil {
		return "", err
	}
	return summary, r.check(ctx)
}

func (r *release) writeAll(ctx context.Context, work string) (string, error) {
	files, err := r.buildAll(ctx, work, everything)
	if err != nil {
		return "", err
	}
	digests, err := r.writeImages(programs, files)
	if err != nil {
		return "", err
	}
	if err := r.writeLists(ctx, files); err != nil {
		return "", err
	}
	for _, p := range programs {
		if p.people {
			if err := r.writePackages(p, files[p.name]); err != nil {
				return "", err
			}
		}
	}
	stamped := filepath.Join(work, "stamped")
	if err := r.stampedCopy(ctx, stamped); err != nil {
		return "", err
	}
	if err := errors.Join(r.writeChart(stamped), r.writeManifest(stamped, digests), r.copyTexts()); err != nil {
		return "", err
	}
	number, err := r.writeSums()
	return fmt.Sprintf("release: %s: %d images for %d processors, mcp-admin for %d systems, chart, install.yaml, SBOMs and notices: %d files",
		r.version, len(digests), len(r.platforms), len(peopleTargets), number), err
}

func (r *release) writeImagesOnly(ctx context.Context, work string) (string, error) {
	files, err := r.buildAll(ctx, work, imagesOnly)
	if err != nil {
		return "", err
	}
	digests, err := r.writeImages(programs, files)
	return fmt.Sprintf("images: %s: %d images for %v", r.version, len(digests), r.platforms), err
}

func (r *release) writeChartOnly(ctx context.Context, work string) (string, error) {
	stamped := filepath.Join(work, "stamped")
	if err := r.stampedCopy(ctx, stamped); err != nil {
		return "", err
	}
	return "chart: " + r.version, r.writeChart(stamped)
}

// writeImages writes the archives, and returns the digests of the images by their names in the registry.
func (r *release) writeImages(programs []program, files executables) (map[string]v1.Hash, error) {
	digests := map[string]v1.Hash{}
	for _, p := range programs {
		index, err := r.index(p, files[p.name])
		if err != nil {
			return nil, err
		}
		if digests[p.image], err = index.Digest(); err != nil {
			return nil, err
		}
		if err := r.writeArchive(filepath.Join(r.dist, r.archiveName(p)), published+"/"+p.image, index); err != nil {
			return nil, err
		}
		fmt.Printf("%s/%s:%s %s\n", published, p.image, r.version, digests[p.image])
	}
	return digests, nil
}

// writeLists writes which modules are in the programs and their images, and their licences.
func (r *release) writeLists(ctx context.Context, files executables) error {
	var all []string
	for _, p := range programs {
		var built []string
		for _, t := range r.targets(p, everything) {
			built = append(built, files[p.name][t])
		}
		modules, err := r.modules(ctx, built)
		if err != nil {
			return err
		}
		if err := r.writeSBOM(filepath.Join(r.dist, p.sbomName()), p, modules); err != nil {
			return err
		}
		all = slices.Concat(all, built)
	}
	modules, err := r.modules(ctx, all)
	if err != nil {
		return err
	}
	return r.writeNotices(filepath.Join(r.dist, "NOTICES.txt"), modules)
}

// copyTexts copies the texts that a release has beside its programs.
func (r *release) copyTexts() error {
	for _, name := range []string{"CHANGELOG.md", "LICENSE"} {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return err
		}
		if err := create(filepath.Join(r.dist, name), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return nil
}
