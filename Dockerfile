# Three stages: the page, the static binary, and an image of just that and a shell to serve.
# Base images are named by digest, which dependabot keeps new.
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS ui
WORKDIR /src/webui
COPY webui/package.json webui/package-lock.json webui/.npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY webui/ ./
RUN npm run build

FROM golang:1.26-bookworm@sha256:9fdc884aacc3bec89b20ffc69f4bb369c78210e3e4f600387b5128b12c199f81 AS build
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=ui /src/webui/dist ./webui/dist
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=${VERSION}" -o /evertty ./cmd/evertty

FROM debian:bookworm-slim@sha256:63a496b5d3b99214b39f5ed70eb71a61e590a77979c79cbee4faf991f8c0783e
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
