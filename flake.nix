# evertty by Nix: `nix run github:evertty/evertty`. A test (tests/flake_test.go) says the hash when go.mod has changed.
{
  description = "Terminals that outlive their viewers";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      version = self.shortRev or self.dirtyShortRev or "dev";
      each =
        f:
        nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: rec {
        default = evertty;

        page = pkgs.buildNpmPackage {
          pname = "evertty-page";
          inherit version;
          src = ./webui;
          npmDeps = pkgs.importNpmLock { npmRoot = ./webui; };
          npmConfigHook = pkgs.importNpmLock.npmConfigHook;
          npmFlags = [ "--ignore-scripts" ];
          installPhase = "cp -r dist $out";
        };

        evertty = pkgs.buildGoModule {
          pname = "evertty";
          inherit version;
          src = self;
          vendorHash = "sha256-AOKoWaE4dGIBccxeNrlOWuZvGuwipuQsojMERVdgBbg=";
          subPackages = [ "cmd/evertty" ];
          env.CGO_ENABLED = 0;
          ldflags = [
            "-s"
            "-w"
            "-X main.release=${version}"
          ];
          doCheck = false; # the tests need a browser and namespaces
          preBuild = "cp -rT --no-preserve=mode ${page} webui/dist";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            for shell in bash zsh fish; do
              $out/bin/evertty completion $shell > evertty.$shell
              installShellCompletion evertty.$shell
            done
            mkdir man1
            $out/bin/evertty man man1
            installManPage man1/*
            for kind in system user; do
              for unit in deploy/systemd/$kind/evertty.*; do
                substitute $unit evertty.unit --replace-quiet /usr/bin/evertty $out/bin/evertty
                install -D --mode 644 evertty.unit $out/lib/systemd/$kind/$(basename $unit)
              done
            done
          '';
          meta = {
            description = "Terminals that outlive their viewers";
            homepage = "https://github.com/evertty/evertty";
            license = pkgs.lib.licenses.mit;
            mainProgram = "evertty";
            platforms = pkgs.lib.platforms.linux;
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [
            go
            nodejs_22
            gnumake
            chromium
          ];
        };
      });
    };
}
