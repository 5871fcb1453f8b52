# The image for both processors: `docker buildx bake --file deploy/docker-bake.hcl`, with VERSION=v0.2.0, and with
# REGISTRY=registry.example/ and --push for a registry.
variable "VERSION" {
  default = "dev"
}

variable "REGISTRY" {
  default = ""
}

group "default" {
  targets = ["evertty"]
}

target "evertty" {
  context    = "."
  dockerfile = "Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  args       = { VERSION = VERSION }
  tags       = ["${REGISTRY}evertty:${VERSION}"]
  labels = {
    "org.opencontainers.image.title"    = "evertty"
    "org.opencontainers.image.version"  = VERSION
    "org.opencontainers.image.licenses" = "MIT"
    "org.opencontainers.image.source"   = "https://github.com/evertty/evertty"
  }
  attest = ["type=provenance,mode=max", "type=sbom"]
}
