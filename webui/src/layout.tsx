import { useEffect } from "preact/hooks";
import { useStore } from "./app";
import { Header } from "./header";
import { CloseDialog } from "./list/closedialog";
import { TerminalList } from "./list/list";
import { NewDialog } from "./list/newdialog";
import { GuestBar } from "./share/guestbar";
import { ShareDialog } from "./share/sharedialog";
import { Banner } from "./terminal/banner";
import { ClipboardBar } from "./terminal/clipboardbar";
import { Empty } from "./terminal/empty";
import { KeyBar } from "./terminal/keybar";
import { shortcutOf } from "./terminal/keys";
import { LinkBar } from "./terminal/linkbar";
import { Overlay } from "./terminal/overlay";
import { PasteDialog } from "./terminal/pastedialog";
import { SearchBox } from "./terminal/searchbox";
import { TerminalView } from "./terminal/view";
import { Expiry } from "./thread/expiry";
import { Toasts } from "./ui/toasts";

/** Keys that work wherever the focus is. */
function useShortcuts(): void {
  const { activeId, drawerOpen, searching } = useStore();
  useEffect(() => {
    const onKey = (e: KeyboardEvent): void => {
      if (e.key === "Escape" && drawerOpen.value) drawerOpen.value = false;
      if (shortcutOf(e) !== "search" || activeId.value === null) return;
      e.preventDefault();
      searching.value = true;
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** Layout is the whole page: the list at the side (a drawer on narrow pages) and one terminal. */
export function Layout() {
  const { closing, creating, drawerOpen, guest, hasList, pasting, searching, sharing, statusOpen } = useStore();
  useShortcuts();
  return (
    <div class={`app ${hasList.value ? "" : "alone"} ${drawerOpen.value ? "drawer-open" : ""}`}>
      {hasList.value && <TerminalList />}
      <div class="backdrop" onClick={() => (drawerOpen.value = false)} />
      <main class="main">
        <div>
          <Header />
          <GuestBar />
        </div>
        <div class="stage">
          <TerminalView />
          <Empty />
          {searching.value && <SearchBox />}
          <LinkBar />
          <ClipboardBar />
          {!statusOpen.value && !guest && <Expiry />}
          <Banner />
          <Overlay />
        </div>
        <KeyBar />
      </main>
      {creating.value && <NewDialog />}
      {closing.value && <CloseDialog info={closing.value} />}
      {sharing.value && <ShareDialog info={sharing.value} />}
      {pasting.value !== null && <PasteDialog terminal={pasting.value} />}
      <Toasts />
    </div>
  );
}
