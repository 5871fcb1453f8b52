package tests

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDeployFilesParse: what people install with reads without an error, by the tool that reads it where it is there.
func TestDeployFilesParse(t *testing.T) {
	t.Parallel()
	for what, one := range map[string]struct {
		tool  []string
		files []string
	}{
		"the flake":          {[]string{"nix-instantiate", "--parse"}, []string{"flake.nix"}},
		"the formula":        {[]string{"ruby", "-c"}, []string{"deploy/homebrew/evertty.rb"}},
		"the image":          {[]string{"docker", "buildx", "bake", "--print", "--file"}, []string{"deploy/docker-bake.hcl"}},
		"scripts":            {[]string{"bash", "-n"}, []string{"scripts/*.sh", "deploy/package/*"}},
		"manifests of YAML":  {[]string{"ruby", "-ryaml", "-e", "YAML.load_stream(File.read(ARGV[0]))"}, yamlFiles},
		"the install script": {[]string{"shellcheck", "--shell=sh"}, []string{"scripts/install.sh"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(one.tool[0]); err != nil {
				t.Skip(err)
			}
			if one.tool[0] == "docker" && exec.Command("docker", "buildx", "version").Run() != nil {
				t.Skip("docker has no buildx")
			}
			for _, pattern := range one.files {
				found, _ := filepath.Glob(filepath.Join("..", pattern))
				if len(found) == 0 {
					t.Errorf("no %s", pattern)
				}
				for _, file := range found {
					c := exec.Command(one.tool[0], append(one.tool[1:], file)...)
					if out, err := c.CombinedOutput(); err != nil {
						t.Errorf("%s: %v: %s", c, err, out)
					}
				}
			}
		})
	}
}

// yamlFiles are read by Docker Compose, Kubernetes, Traefik, Prometheus, GoReleaser and the workflows.
var yamlFiles = []string{"deploy/compose/*.yaml", "deploy/kubernetes/*.yaml", "deploy/traefik/*.yml",
	"deploy/prometheus/*.yml", ".goreleaser.yaml", ".github/workflows/*.yml"}
