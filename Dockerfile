# syntax=docker/dockerfile:1
# Two images from one build: the targets "manager" and "server".
#   docker build --target manager --build-arg VERSION=$(git describe --tags --always) -t mcp-admin/manager:dev .
#   docker build --target server --build-arg VERSION=$(git describe --tags --always) -t mcp-admin/server:dev .

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api/ api/
COPY cmd/ cmd/
COPY config/rbac/ config/rbac/
COPY contract/ contract/
COPY controllers/ controllers/
COPY server/ server/

FROM build AS build-manager
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin-manager ./cmd/manager

FROM build AS build-server
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin-server ./cmd/server

# No shell, no package manager; CA certificates, time zones and the user 65532.
FROM gcr.io/distroless/static:nonroot AS base
LABEL org.opencontainers.image.source="https://github.com/mcp-admin/mcp-admin-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532

FROM base AS manager
LABEL org.opencontainers.image.title="mcp-admin-manager" \
      org.opencontainers.image.description="The controllers of mcp-admin-operator"
COPY --from=build-manager /out/mcp-admin-manager /mcp-admin-manager
ENTRYPOINT ["/mcp-admin-manager"]

FROM base AS server
LABEL org.opencontainers.image.title="mcp-admin-server" \
      org.opencontainers.image.description="The MCP server of one endpoint of mcp-admin-operator"
COPY --from=build-server /out/mcp-admin-server /mcp-admin-server
ENTRYPOINT ["/mcp-admin-server"]
