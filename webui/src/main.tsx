import "@xterm/xterm/css/xterm.css";
import "./style/base.css";
import "./style/list.css";
import "./style/stage.css";
import "./style/thread.css";
import "./style/conversation.css";
import "./style/dialog.css";
import "./style/viewers.css";
import "./style/share.css";
import { render } from "preact";
import { App, AppContext } from "./app";
import { installHook } from "./hook";
import { Layout } from "./layout";
import { followViewport } from "./viewport";

const root = document.getElementById("app");
if (root) {
  const app = new App();
  followViewport();
  render(
    <AppContext value={app}>
      <Layout />
    </AppContext>,
    root,
  );
  installHook(app);
  app.start();
}
