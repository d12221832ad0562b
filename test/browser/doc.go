// Package browser runs a real MCP client in a real browser: Chromium, headless, shows a page of another origin, which
// asks a server through the official TypeScript SDK. Its tests need npm and Chromium; make browser sees to both if it
// can, and says what is missing if it cannot. Package test/page has its way to Chromium from here.
package browser
