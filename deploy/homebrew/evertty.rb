# The formula for Homebrew, as a template: `make release` fills in version and sums from checksums.txt and writes
# dist/evertty.rb (scripts/formula.sh). Try it with `brew install --formula ./dist/evertty.rb`.
class Evertty < Formula
  desc "Terminals that outlive their viewers"
  homepage "https://github.com/evertty/evertty"
  version "@VERSION@"
  license "MIT"

  # The server needs Linux; on macOS this is the client of servers elsewhere.
  on_macos do
    on_arm do
      url "https://github.com/evertty/evertty/releases/download/v@VERSION@/evertty_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256_darwin_arm64@"
    end
    on_intel do
      url "https://github.com/evertty/evertty/releases/download/v@VERSION@/evertty_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256_darwin_amd64@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/evertty/evertty/releases/download/v@VERSION@/evertty_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256_linux_arm64@"
    end
    on_intel do
      url "https://github.com/evertty/evertty/releases/download/v@VERSION@/evertty_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256_linux_amd64@"
    end
  end

  def install
    bin.install "evertty"
    man1.install Dir["man1/*"]
    bash_completion.install "completions/evertty.bash" => "evertty"
    zsh_completion.install "completions/_evertty"
    fish_completion.install "completions/evertty.fish"
  end

  test do
    assert_match "evertty v#{version}", shell_output("#{bin}/evertty version")
  end
end
