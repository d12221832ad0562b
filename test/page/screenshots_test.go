package page

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// largest is the most bytes that a picture of the documents has.
const largest = 60 << 10

// The pictures of docs/page.md, made anew.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("MCP_SCREENSHOTS")
	if folder == "" {
		t.Skip("make screenshots makes the pictures")
	}
	s := newStage(t)
	folder = filepath.Join(project.Root(), folder)
	at := func(name string) string { return filepath.Join(folder, "page-"+name+".png") }
	c := s.startCluster()
	s.fill(c)
	s.drive(work{Name: "pictures of a cluster", Link: s.serve("ui", "--kubeconfig", c.kubeconfig), Shots: []shot{
		{"e/billing/billing", at("health"), "light", 700}, {"e/billing/billing", at("health-dark"), "dark", 700}, {"e/billing/billing", at("health-narrow"), "narrow", 900},
	}})
	const of = "e/bookshop/bookshop"
	s.drive(work{Name: "pictures of dev",
		Link: s.serve("dev", "-f", "config/samples", "--state", t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"),
		Shots: []shot{
			{of + "/who", at("who"), "light", 640}, {of + "/who", at("who-dark"), "dark", 640}, {of + "/who", at("who-narrow"), "narrow", 900},
			{of + "/models", at("models"), "light", 560},
		}})
	pictures, err := filepath.Glob(at("*"))
	s.check(err)
	for _, file := range pictures {
		s.check(shrink(file))
		if info, err := os.Stat(file); err != nil || info.Size() > largest {
			t.Errorf("%s: %v, %d bytes", file, err, info.Size())
		}
	}
}

// shrink writes a picture with the 255 colours that it has most of; the others are drawn in the nearest of these.
func shrink(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return err
	}
	count := map[color.Color]int{}
	bounds := from.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[from.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	palette := color.Palette(colours[:min(len(colours), 255)])
	index := map[color.Color]uint8{}
	for _, c := range colours {
		index[c] = uint8(palette.Index(c)) // #nosec G115 -- a palette has at most 255
	}
	to := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[from.At(x, y)])
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644) // #nosec G306 -- a picture of the documents
}
