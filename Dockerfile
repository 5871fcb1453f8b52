# Three stages: the page, the static binary, and an image of just that and a shell to serve.
FROM node:22-bookworm-slim AS ui
WORKDIR /src/webui
COPY webui/package.json webui/package-lock.json webui/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY webui/ ./
RUN npm run build

FROM golang:1.26-bookworm AS build
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=ui /src/webui/dist ./webui/dist
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=${VERSION}" -o /evertty ./cmd/evertty

FROM debian:bookworm-slim
# As the first process of a container a program has to reap orphans, which tini does.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* \
	&& useradd --create-home --uid 1000 --shell /bin/bash evertty \
	&& install -d -m 0700 -o evertty -g evertty /data
COPY --from=build /evertty /usr/local/bin/evertty
USER evertty
WORKDIR /home/evertty
ENV EVERTTY_DATA_DIR=/data
VOLUME /data
EXPOSE 3000
ENTRYPOINT ["tini", "--", "evertty"]
CMD ["serve", "--listen", "0.0.0.0:3000"]
