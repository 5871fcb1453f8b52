import "@xterm/xterm/css/xterm.css";
import "./style/base.css";
import "./style/list.css";
import "./style/stage.css";
import "./style/thread.css";
import "./style/conversation.css";
import "./style/dialog.css";
import { render } from "preact";
import { App } from "./app";
import { installHook } from "./hook";
import { start } from "./page";
import { followViewport } from "./viewport";

const root = document.getElementById("app");
if (root) {
  followViewport();
  render(<App />, root);
  installHook();
  start();
}
