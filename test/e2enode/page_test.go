package e2enode

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

var pageLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*open/\S+`)

// openPage starts "mcp-admin ui" and follows the link that it prints.
func openPage(ctx context.Context) *pagetest.Browser {
	GinkgoHelper()
	lines := follow(cluster.Command(context.WithoutCancel(ctx), filepath.Join(root, "bin", "mcp-admin"), "ui"))
	for lines.Scan() {
		if link := pageLink.FindString(lines.Text()); link != "" {
			return pagetest.Open(GinkgoTB(), link)
		}
	}
	Fail("mcp-admin ui prints no link")
	return nil
}

// shows waits until a screen of the page has some texts: audit lines and metrics come a moment after what they tell of.
func shows(page *pagetest.Browser, path string, wants ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		code, text := page.Get(path)
		g.Expect(code).To(Equal(http.StatusOK), text)
		for _, want := range wants {
			g.Expect(text).To(ContainSubstring(want))
		}
	}).Should(Succeed(), path)
}
